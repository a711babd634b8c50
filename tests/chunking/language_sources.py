"""Small sources of each language, and what stands in them; shared by these tests.

Each is cut so finely that nested definitions get chunks of their own.
"""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """A file and what must be found in it.

    Attributes:
        path: decides the language.
        text: the file.
        labels: label of a definition -> words of its comment and its own that share a chunk.
        max_chars: the limit it is cut to; half of it is never cut.
    """

    path: str
    text: str
    labels: dict[str, tuple[str, ...]]
    max_chars: int = 320


C = """\
/* A ring of samples. */
#include <stdlib.h>
#include "ring.h"

#define RING_STEP(at, size) \\
    (((at) + 1) % (size))

/** One channel of the ring, with the place where the next sample goes. */
typedef struct {
    float *samples;
    size_t size, at;
} channel_t;

enum overflow { DROP_OLDEST, DROP_NEWEST };

#ifdef RING_TRACE
/* Prints what is in the ring, oldest first. */
static void
ring_trace(const channel_t *ring)
{
    for (size_t i = 0; i < ring->size; i++)
        printf("%f\\n", ring->samples[i]);
}
#endif

/*
 * Takes the oldest sample.
 */
float *ring_oldest(channel_t *ring) {
    return &ring->samples[RING_STEP(ring->at, ring->size)];
}
"""
CPP = """\
#include <vector>

namespace audio::mix {

// Mixes channels into one.
template <typename Sample>
class Mixer final : public Stage {
 public:
  explicit Mixer(int channels) : sums_(channels) {}

  /// Adds what one channel holds, weighted by its gain.
  template <typename Gain>
  void add(const Sample* from, Gain gain) {
    for (auto& sum : sums_) sum += *from++ * gain;
  }

  Sample operator[](int at) const { return sums_.at(at); }

  // Sums of integers are kept wide, so that nothing overflows.
  void add(const int* from) { for (auto& sum : sums_) sum += *from++; }

 private:
  struct Wide { long long value; bool is_clipped; std::vector<long long> parts; };
  std::vector<Sample> sums_;
};

// Brings the sums down to what fits.
template <typename Sample>
void Mixer<Sample>::normalize(float most) {
  for (auto& sum : sums_) sum = sum > most ? most : sum;
}

}  // namespace audio::mix

extern "C" {
// For callers that are not C++, which know no exceptions either.
int mixer_open(int channels) { return channels > 0 ? 0 : -1; }
}
"""
CUDA = """\
#include <cuda_fp16.h>

namespace kernels {

// Scales a row in place.
// One block takes one row.
template <typename scalar_t, int BLOCK>
__global__ void __launch_bounds__(BLOCK)
scale_rows_kernel(scalar_t* __restrict__ rows, const float* gains, int width) {
  for (int i = threadIdx.x; i < width; i += BLOCK) {
    rows[blockIdx.x * width + i] *= gains[blockIdx.x];
  }
}

__device__ __forceinline__ float clip(float value) { return fminf(value, 1.0f); }

}  // namespace kernels

// Launches a block for each row of the matrix and waits for none of them.
void scale_rows(float* rows, const float* gains, int width, int count) {
  kernels::scale_rows_kernel<float, 128><<<count, 128, 0, stream()>>>(rows, gains, width);
}
"""
RUST = """\
use std::collections::HashMap;
use std::fmt;

/// Counts words, whatever their case.
#[derive(Debug, Default)]
pub struct Counter<'a> {
    counts: HashMap<&'a str, usize>,
    longest: Option<&'a str>,
}

impl<'a> Counter<'a> {
    /// How often a word was seen so far, which is never less than it was before.
    #[inline]
    pub fn count(&self, word: &str) -> usize {
        *self.counts.get(word).unwrap_or(&0)
    }

    fn longest(&self) -> &str {
        self.longest.unwrap_or_default()
    }
}

impl fmt::Display for Counter<'_> {
    // One word a line.
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.counts.keys().try_for_each(|word| writeln!(out, "{word}"))?;
        out.flush_as_far_as_that_can_be_done()
    }
}

/// What can be asked for its most frequent word.
pub trait Frequent {
    fn top(&self) -> Option<&str>;
}

mod tests {
    #[test]
    fn counts_twice() { assert_eq!(super::counter("a a").count("a"), 2); }
}

macro_rules! count { ($($word:expr),*) => { [$($word),*].len() } }
"""
GO = """\
package cache

import (
	"sync"
	"time"
)

// Cache forgets what nobody asked for lately.
type Cache[K comparable] struct {
	mu    sync.Mutex
	items map[K]entry
	ttl   time.Duration
}

// Get returns what is kept under a key, unless it has expired meanwhile.
func (c *Cache[K]) Get(key K) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.items[key]
	return found.value, ok && !found.expired()
}

// New makes an empty cache whose entries live as long as ttl says they do.
func New[K comparable](ttl time.Duration) *Cache[K] {
	return &Cache[K]{items: map[K]entry{}, ttl: ttl}
}

type (
	// Store is what a cache stands in front of.
	Store interface{ Load(key string) (any, error) }
)
"""
JAVA = """\
package shop.cart;

import java.util.List;

/**
 * What somebody is about to buy.
 */
@Service
public class Cart<T extends Item> extends Base {
    private final List<T> items;

    public Cart(List<T> items) { this.items = List.copyOf(items); }

    /** The sum of all prices, discounts not yet taken off. */
    @Override
    public Money total() {
        return items.stream().map(Item::price).reduce(Money.ZERO, Money::plus);
    }

    /** Overloaded: the sum in another currency. */
    public Money total(Currency currency) { return total().in(currency, Rates.today()); }

    static class Line {
        // How many of it.
        int amount() { return amount; }
    }

    enum State { OPEN, PAID }

    interface Listener { void changed(Cart<?> cart); }
}

record Money(long cents, String currency) { }
"""
JAVASCRIPT = """\
import { open } from "./store.js";

/**
 * Reads a page, from the store if it is there.
 */
export const readPage = async (name, { fresh = false } = {}) => {
  const page = fresh ? null : await open(name);
  return page ?? fetch(`/pages/${name}`);
};

export default class Pager extends EventTarget {
  #page = 0;

  // Turns the page, and says so to whoever listens to this very pager.
  turn(by = 1) {
    this.#page += by;
    this.dispatchEvent(new CustomEvent("turned", { detail: this.#page }));
  }

  get page() { return this.#page; }

  close = () => { this.dispatchEvent(new Event("closed")); this.#page = -1; };
}

// Old callers still ask the prototype, and always will, so it stays here.
Pager.prototype.next = function () { return this.turn(1); };

function* pages(from, to) { for (let at = from; at < to; at++) yield readPage(at); }

module.exports.last = function () { return pages(-1, 0).next().value; };
"""
TYPESCRIPT = """\
import type { Row } from "./row";

/** What a table can be asked for. */
export interface Table<T extends Row> {
  readonly size: number;
  rows(from: number, to: number): AsyncIterable<T>;
}

export type Order = "up" | "down" | { by: string; then?: Order };

enum Lock { None, Shared, Exclusive }

namespace Plans {
  // Cheapest first.
  export function rank(plans: Plan[]): Plan[] { return plans.sort((a, b) => a.cost - b.cost); }
}

// Either a name or a number names a column of a table; both give the same.
function column(name: string): Column;
function column(at: number): Column;
function column(which: any): Column { return columns[which] ?? named(which); }

@Injectable({ scope: "request" })
export abstract class Reader<T extends Row> implements Table<T> {
  constructor(private readonly source: Source<T>, protected readonly lock = Lock.Shared) {}
  abstract rows(from: number, to: number): AsyncIterable<T>;
  close(): void { this.lock === Lock.Exclusive && release(this.source); }
}

export const parse = <T,>(text: string): T => JSON.parse(text, (_, value) => revive(value));
"""
TSX = """\
/** A button that asks before it acts. */
export const SureButton: FC<Props> = ({ onSure, children }) => {
  const [asked, ask] = useState(false);
  return <button onClick={asked ? onSure : () => ask(true)}>{asked ? "Sure?" : children}</button>;
};
"""
CSHARP = """\
using System;
using System.Collections.Generic;

namespace Shop.Core
{
    /// <summary>What somebody is about to buy.</summary>
    [Serializable]
    public sealed class Basket<T> : Base where T : IItem
    {
        private readonly List<T> items = new();

        public Basket(IEnumerable<T> items) { this.items.AddRange(items); }

        /// <summary>Sums all prices and waits for the rates.</summary>
        [Obsolete("ask the till")]
        public async Task<Money> TotalAsync(Currency currency)
        {
            var rates = await Rates.TodayAsync();
            return items.Sum(item => item.Price).In(currency, rates);
        }

        public static Basket<T> operator +(Basket<T> a, Basket<T> b) => new(a.Concat(b.items));

        public int Count { get { return items.Count; } }
    }

    public record Money(long Cents, string Currency);

    public interface IItem { Money Price { get; } }
}
"""
CSHARP_FILE_SCOPED = """\
namespace Shop.Tills;

public struct Till { public int Number; public void Open() { Drawer.Open(Number); } }
"""
RUBY = """\
require "set"

# Everything about mail.
module Post
  module Office
    # Sorts letters by where they go.
    class Sorter < Worker
      attr_reader :bins

      def initialize(bins) = @bins = bins

      # Puts a letter into the bin of its town, or into the one for all others.
      def sort!(letter)
        bins.fetch(letter.town) { bins[:others] } << letter
      end

      # Those that are equal have the same bins, whatever is in them by now.
      def ==(other)
        other.is_a?(Sorter) && bins.keys == other.bins.keys
      end

      class << self
        # Bins for every town that the office serves, and one for all others.
        def for(office) = new(office.towns.to_h { |town| [town, []] })
      end

      private def empty?(bin) = bins[bin].nil? || bins[bin].empty? || bins[bin].all?(&:lost?)
    end
  end
end
"""
PHP = """\
<?php

namespace App\\Models;

use App\\Support\\Clock;

/** Someone who may log in. */
#[Entity(table: 'users')]
final class User extends Model implements Known
{
    use Timestamps;

    private ?string $name = null;

    /** Checks a password and notes when it was last right. */
    public function check(string $password): bool
    {
        $this->seen = Clock::now();
        return password_verify($password, $this->hash);
    }
}

trait Timestamps
{
    // Now, as the database has it.
    public static function now(): string { return Clock::now()->format('c'); }
}

interface Known { public function name(): string; }

enum Role: string { case Admin = 'admin'; case Guest = 'guest'; }

// Finds a user by name, and makes one where there is none of that name yet.
function user_named(string $name): User { return User::find($name) ?? new User($name); }
"""
BASH = """\
#!/usr/bin/env bash
set -euo pipefail

# Prints what is wrong, and leaves.
die() {
  echo "error: $*" >&2
  exit 1
}

# Copies a folder to the machine that serves it,
# unless nothing in it has changed since the last time.
function deploy {
  local folder=$1
  [[ -d $folder ]] || die "no folder $folder"
  rsync -a --delete "$folder/" "$HOST:/srv/"
}

cat <<'EOF'
deploy() { this is text, not code; }
EOF

deploy "${1:-public}"
"""
SQL = """\
-- Everyone who has an account, and when they were last seen here.
CREATE TABLE IF NOT EXISTS shop.customers (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    seen TIMESTAMP DEFAULT now()
);

CREATE UNIQUE INDEX customers_by_name ON shop.customers (name);

/* Those who came back within a month; the others are asked why. */
CREATE VIEW regulars AS
    SELECT * FROM shop.customers WHERE seen > now() - INTERVAL '30 days';

-- What a customer has spent so far, in cents; nothing is nought.
CREATE OR REPLACE FUNCTION spent(customer BIGINT) RETURNS BIGINT AS $$
BEGIN
    RETURN (SELECT coalesce(sum(cents), 0) FROM orders WHERE orders.customer = customer);
END;
$$ LANGUAGE plpgsql;

CREATE TRIGGER seen_now AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION touch();

INSERT INTO shop.customers (id, name) VALUES (1, 'Ada'), (2, 'Grace');
"""
PYTHON_2 = """\
import os
from sys import stderr

# What the machine says of itself.
class Machine(object):
    def __init__(self, name):
        self.name = name

    # Prints its name and what it runs on, as long as there is somewhere to.
    @property
    def banner(self):
        print >>stderr, "this is", self.name, `os.uname()`
        exec "pass" in {}
        return 0777

    def fail(self):
        try:
            raise IOError, "no disk in drive %s of machine %s" % (1, self.name)
        except IOError, error:
            print "failed:", error
"""
SOURCES = [
    Source("ring.c", C, {
        "Imports": ("A ring of samples", "ring.h"),
        "Macro: RING_STEP": ("(at) + 1",),
        "Struct: channel_t": ("One channel", "samples;"),
        "Enum: overflow": ("DROP_OLDEST",),
        "Function: ring_trace": ("oldest first", "static void", "ring_trace"),
        "Function: ring_oldest": ("Takes the oldest", "float *ring_oldest"),
    }),
    Source("mixer.hpp", CPP, {
        "Class: audio.mix.Mixer": ("Mixes channels", "template <typename Sample>", "class Mixer"),
        "Class: audio.mix.Mixer - Method: add": ("Adds what", "template <typename Gain>", "gain)"),
        "Class: audio.mix.Mixer - Method: operator[]": ("Sample operator[]",),
        "Struct: audio.mix.Mixer.Wide": ("is_clipped",),
        "Class: audio.mix.Mixer - Method: normalize": ("Brings the sums", "template", "most)"),
        "Function: mixer_open": ("not C++", "int mixer_open"),
    }),
    Source("mixer.h", CPP, {"Class: audio.mix.Mixer": ("Mixes channels",)}),
    Source("scale.cu", CUDA, {
        "Function: kernels.scale_rows_kernel": ("Scales a row", "__launch_bounds__", "width) {"),
        "Function: kernels.clip": ("__forceinline__",),
        "Function: scale_rows": ("Launches a block", "<<<count"),
    }),
    Source("counter.rs", RUST, {
        "Imports": ("HashMap", "use std::fmt"),
        "Struct: Counter": ("Counts words", "#[derive(Debug", "pub struct Counter"),
        "Class: Counter - Method: count": ("How often", "#[inline]", "fn count"),
        "Class: Counter - Method: fmt": ("One word a line", "fn fmt"),
        "Trait: Frequent": ("can be asked", "fn top"),
        "Function: tests.counts_twice": ("#[test]", "counts_twice"),
        "Macro: count": ("macro_rules! count",),
    }, 240),
    Source("cache.go", GO, {
        "Imports": ("package cache", '"time"'),
        "Type: Cache": ("forgets what", "type Cache"),
        "Class: Cache - Method: Get": ("unless it has expired", "func (c *Cache[K]) Get"),
        "Function: New": ("an empty cache", "func New"),
        "Type: Store": ("stands in front", "Store interface"),
    }),
    Source("Cart.java", JAVA, {
        "Imports": ("package shop.cart", "java.util.List"),
        "Class: Cart": ("about to buy", "@Service", "public class Cart"),
        "Class: Cart - Method: Cart": ("List.copyOf",),
        "Class: Cart - Method: total": ("sum of all prices", "@Override", "Money::plus"),
        "Class: Cart.Line": ("static class Line", "How many"),
        "Enum: Cart.State": ("OPEN",),
        "Interface: Cart.Listener": ("changed(",),
        "Record: Money": ("long cents",),
    }),
    Source("pages.mjs", JAVASCRIPT, {
        "Function: readPage": ("Reads a page", "export const readPage"),
        "Class: Pager": ("export default class Pager",),
        "Class: Pager - Method: turn": ("Turns the page", "turn(by"),
        "Class: Pager - Method: page": ("get page",),
        "Class: Pager - Method: close": ("close =",),
        "Class: Pager - Method: next": ("Old callers", "Pager.prototype.next"),
        "Function: pages": ("function* pages",),
        "Function: last": ("module.exports.last",),
    }),
    Source("table.ts", TYPESCRIPT, {
        "Interface: Table": ("can be asked for", "rows(from"),
        "Type: Order": ("export type Order",),
        "Enum: Lock": ("Exclusive",),
        "Function: Plans.rank": ("Cheapest first", "function rank"),
        "Function: column": ("Either a name", "column(name: string)"),
        "Class: Reader": ("@Injectable", "abstract class Reader"),
        "Class: Reader - Method: rows": ("abstract rows",),
        "Function: parse": ("JSON.parse",),
    }, 280),
    Source("sure.tsx", TSX, {"Function: SureButton": ("asks before", "const SureButton")}),
    Source("Basket.cs", CSHARP, {
        "Imports": ("using System;", "Generic"),
        "Class: Shop.Core.Basket": ("about to buy", "[Serializable]", "class Basket"),
        "Class: Shop.Core.Basket - Method: Basket": ("AddRange",),
        "Class: Shop.Core.Basket - Method: TotalAsync": ("Sums all", "[Obsolete", "TotalAsync("),
        "Class: Shop.Core.Basket - Method: operator +": ("Concat",),
        "Class: Shop.Core.Basket - Method: Count": ("items.Count",),
        "Record: Shop.Core.Money": ("Cents",),
        "Interface: Shop.Core.IItem": ("IItem {",),
    }),
    Source("Till.cs", CSHARP_FILE_SCOPED, {"Struct: Shop.Tills.Till": ("public struct Till",)}),
    Source("sorter.rb", RUBY, {
        "Class: Post.Office.Sorter": ("Sorts letters", "class Sorter"),
        "Class: Post.Office.Sorter - Method: initialize": ("@bins = bins",),
        "Class: Post.Office.Sorter - Method: sort!": ("Puts a letter", "def sort!"),
        "Class: Post.Office.Sorter - Method: ==": ("have the same bins", "def =="),
        "Class: Post.Office.Sorter - Method: for": ("for every town", "def for"),
        "Class: Post.Office.Sorter - Method: empty?": ("private def empty?",),
    }),
    Source("User.php", PHP, {
        "Imports": ("use App",),
        "Class: App.Models.User": ("may log in", "#[Entity", "final class User"),
        "Class: App.Models.User - Method: check": ("Checks a password", "function check"),
        "Trait: App.Models.Timestamps": ("trait Timestamps", "as the database"),
        "Interface: App.Models.Known": ("interface Known",),
        "Enum: App.Models.Role": ("enum Role",),
        "Function: App.Models.user_named": ("by name", "function user_named"),
    }),
    Source("deploy.sh", BASH, {
        "Function: die": ("what is wrong", "die() {"),
        "Function: deploy": ("Copies a folder", "function deploy"),
    }),
    Source("schema.sql", SQL, {
        "Table: customers": ("Everyone who", "CREATE TABLE", "seen TIMESTAMP"),
        "Index: customers_by_name": ("UNIQUE INDEX",),
        "View: regulars": ("came back", "CREATE VIEW", "30 days"),
        "Function: spent": ("nothing is nought", "RETURNS BIGINT"),
        "Trigger: seen_now": ("AFTER INSERT",),
    }),
    Source("machine.py", PYTHON_2, {
        "Imports": ("import os", "stderr"),
        "Class: Machine": ("says of itself", "class Machine"),
        "Class: Machine - Method: banner": ("Prints its name", "@property", "def banner"),
        "Class: Machine - Method: fail": ("def fail",),
    }),
]  # fmt: skip
