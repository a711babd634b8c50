"""One tokenizer for documents and queries."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmachine.index import tokens
from ragmachine.index.tokens import KEYWORDS, STOPWORDS, Tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """One for all: what it remembers must not change what it says."""
    return Tokenizer()


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("cache", ["cach"]),
        ("caches", ["cach"]),
        ("Caching", ["cach"]),
        ("max_tokens", ["max_tokens", "max", "token"]),
        ("MAX_MODEL_LEN", ["max_model_len", "max", "model", "len"]),
        ("maxTokens", ["maxtokens", "max", "token"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("getHTTPResponse2", ["gethttpresponse2", "get", "http", "respons", "2"]),
        ("vLLM", ["vllm", "v", "llm"]),
        ("LLM", ["llm"]),
        ("fp8", ["fp8", "fp", "8"]),
        ("__init__", ["__init__", "init"]),
        ("_private", ["_private", "privat"]),
        ("__", ["__"]),
        ("_", []),
        ("C", ["c"]),
        ("C++", ["c++"]),
        ("c++", ["c++"]),
        ("C#", ["c#"]),
        ("count++", ["count"]),
        ("node.js", ["node", "js"]),
        ("torch.nn.Module", ["torch", "nn", "modul"]),
        ("3.12", ["3.12"]),
        ("v0.10.1", ["v0.10.1", "v", "0.10.1"]),
        ("Qwen2.5", ["qwen2.5", "qwen", "2.5"]),
        ("CUDA12.4", ["cuda12.4", "cuda", "12.4"]),
        ("v1/completions", ["v1", "v", "1", "complet"]),
        ("--port", ["--port", "port"]),
        (
            "--tensor-parallel-size",
            ["--tensor-parallel-size", "tensor_parallel_size", "tensor", "parallel", "size"],
        ),
        ("tensor-parallel-size", ["tensor", "parallel", "size"]),
        ("a--b", ["b"]),
        ("----rule", ["rule"]),
        ("don't", []),
        ("user's", ["user"]),
        ("#include <x.h>", ["includ", "x", "h"]),
    ],
)
def test_words_of_code_and_prose(word: str, terms: list[str], tokenizer: Tokenizer) -> None:
    """The whole as written, lower-case, then its parts, stemmed."""
    assert tokenizer.terms(word) == terms


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        pytest.param("naïve", ["naïv", "naiv"], id="with and without its accent"),
        pytest.param("größe", ["grösse", "gross"], id="sharp s"),
        pytest.param("élan", ["élan", "elan"], id="capital"),
        pytest.param("größe_maximal", ["grösse_maxim", "grosse_maxim", "grösse", "gross", "maxim"],
                     id="snake case"),
        pytest.param("naïveBayes2", ["naïvebayes2", "naivebayes2", "naïv", "naiv", "bay", "2"],
                     id="camel case"),
        pytest.param("ΑΒΓ", ["αβγ"], id="Greek"),
        pytest.param("Модель", ["модель"], id="Russian"),
        pytest.param("हिन्दी", ["हिन्दी"], id="Hindi keeps its vowel signs"),
        pytest.param("है।", ["है"], id="Hindi full stop"),
        pytest.param("مرحبا،", ["مرحبا"], id="Arabic comma"),
        pytest.param("می‌خواهم", ["میخواهم"], id="Persian joiner"),
        pytest.param("中文合同", ["中文", "文合", "合同"], id="Han in pairs"),
        pytest.param("文", ["文"], id="Han alone"),
        pytest.param("合同，中文。", ["合同", "中文"], id="Han with punctuation"),
        pytest.param("한글은", ["한글", "글은"], id="Hangul"),
        pytest.param("データ・ベース", ["デー", "ータ", "ベー", "ース"], id="kana with a dot"),
        pytest.param("ﾃﾞｰﾀ", ["デー", "ータ"], id="half width"),
        pytest.param("ＧＰＵ", ["gpu"], id="full width"),
        pytest.param("使用maxTokens参数", ["使用", "maxtokens", "max", "token", "参数"],
                     id="identifier among Han"),
        pytest.param("ﬁle", ["file"], id="ligature"),
        pytest.param("x⁺", ["x"], id="superscript sign"),
        pytest.param("⁺ ₊ ⁽ ⁻", [], id="signs alone"),
        pytest.param("\u0301 \u200d \ufe0f ❤\ufe0f 👩‍💻", [], id="marks and symbols alone"),
        pytest.param("\ufeffimport", ["import"], id="byte order mark"),
        pytest.param("€5 – “ten”", ["5", "ten"], id="signs between"),
    ],
)  # fmt: skip
def test_words_of_other_scripts(word: str, terms: list[str], tokenizer: Tokenizer) -> None:
    """Normalised, cut by script, freed of punctuation, with and without accents."""
    assert tokenizer.terms(word) == terms


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("max_tokens", "tokens"),
        ("max_tokens", "max tokens"),
        ("maxTokens", "max tokens"),
        ("tensor_parallel_size", "--tensor-parallel-size"),
        ("--tensor-parallel-size", "tensor parallel size"),
        ("getHTTPResponse2", "HTTP response"),
        ("naive", "naïve"),
        ("naïve", "naive"),
        ("मॉडल।", "मॉडल"),
        ("运行中文模型", "中文"),
        ("Qwen2.5-7B", "qwen 2.5"),
        ("vllm.entrypoints.openai", "openai entrypoint"),
        ("POST /v1/completions", "completion"),
    ],
)
def test_a_part_finds_the_whole(written: str, asked: str, tokenizer: Tokenizer) -> None:
    """At least one term of every word that is asked for stands in what was written."""
    indexed = set(tokenizer.terms(written))
    assert all(indexed & set(tokenizer.terms(word)) for word in asked.split())


@pytest.mark.parametrize(
    "word", ["naïve", "Ångström", "한글", "データベース", "ễ_ß", "é2É"], ids=ascii
)
def test_composed_and_decomposed_are_one(word: str, tokenizer: Tokenizer) -> None:
    """NFC and NFD of a text have the same terms, as file names and sources differ in it."""
    composed, decomposed = (unicodedata.normalize(form, word) for form in ("NFC", "NFD"))
    assert composed != decomposed
    assert tokenizer.terms(composed) == tokenizer.terms(decomposed)


@pytest.mark.parametrize("word", sorted(KEYWORDS))
def test_a_keyword_is_never_dropped_from_a_document(word: str, tokenizer: Tokenizer) -> None:
    """`for`, `is` and `not` are code as much as prose."""
    assert tokenizer.terms(word) != []
    assert tokenizer.terms(word.upper()) == tokenizer.terms(word)


@pytest.mark.parametrize("word", ["the", "The", "of", "what", "using"])
def test_a_stopword_is_dropped(word: str, tokenizer: Tokenizer) -> None:
    """In any case, from documents and queries alike."""
    assert word.lower() in STOPWORDS
    assert tokenizer.terms(word) == tokenizer.query_terms(word) == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("the Corvane 230 S", ["corvan", "230", "s"]),
        ("it's and don't", ["and"]),
        ("A or I", ["or"]),
        ("vitamin D", ["vitamin", "d"]),
    ],
)
def test_a_capital_that_names_is_a_word(text: str, terms: list[str], tokenizer: Tokenizer) -> None:
    """It tells two versions of a product apart; what contractions leave behind says nothing."""
    assert tokenizer.terms(text) == terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("", []),
        ("?!", []),
        ("the and of", []),
        ("The AND of", []),
        ("for", ["for"]),
        ("what is it for", []),
        ("what is the cache for", ["cach"]),
        ("for x in y", ["for", "x", "in", "y"]),
        ("import numpy as np", ["import", "numpi", "as", "np"]),
        ("how does yield work", ["yield", "work"]),
        ("cache the cache", ["cach"]),
        ("the_and", ["the_and", "the", "and"]),
    ],
    ids=repr,
)
def test_query_terms(query: str, terms: list[str], tokenizer: Tokenizer) -> None:
    """Each once; keywords that only glue prose are dropped, those of a code query kept."""
    assert tokenizer.query_terms(query) == terms


def test_terms_keep_order_and_repeats(tokenizer: Tokenizer) -> None:
    """A document's counts depend on it."""
    assert tokenizer.terms("b a b") == ["b", "b"]
    assert tokenizer.terms("two one two") == ["two", "one", "two"]


@pytest.mark.parametrize("word", ["x" * 65, "x" * 257, "aB" * 200, "é" * 65, "1." * 200 + "1"])
def test_what_no_one_asks_for_is_left_out(word: str, tokenizer: Tokenizer) -> None:
    """Words over 64 characters and identifiers over 256 are hashes and encoded data."""
    assert tokenizer.terms(word) == []


def test_a_long_identifier_is_found_by_its_parts(tokenizer: Tokenizer) -> None:
    """Over 64 characters the whole is left out, its parts are not."""
    assert tokenizer.terms("_".join(["part"] * 20)) == ["part"] * 20


LONG = {
    "letters": "a" * 200_000,
    "camel case": "aB" * 100_000,
    "underscores": "_" * 200_000,
    "hyphens": "-" * 200_000,
    "flag": "--a" + "-b" * 100_000,
    "flags": "--a " * 50_000,
    "version": "1." * 100_000,
    "versions": "a.1" * 66_000,
    "plus": "+" * 200_000,
    "C++": "a+" * 100_000,
    "accents": "é" * 200_000,
    "Han": "中" * 200_000,
    "marks out of order": "a" + "\u0315\u0300" * 100_000,
    "Thai marks out of order": "\u0e01" + "\u0e48\u0e38" * 100_000,
    "joiners": "a\u200d" * 100_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_normalisation_never_sees_a_long_word(
    text: str, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sorting the marks of a word is quadratic, so it is handed over in short pieces."""
    sizes = [0]
    normalize = unicodedata.normalize

    def measured(form: str, word: str) -> str:
        sizes.append(len(word))
        return normalize(form, word)

    monkeypatch.setattr(tokens.unicodedata, "normalize", measured)
    tokenizer.terms(text)
    assert max(sizes) <= 1024
    assert sum(sizes) <= 4 * len(text)


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_no_text_has_more_terms_than_characters(text: str, tokenizer: Tokenizer) -> None:
    """Work and output grow with the text, not with its square."""
    assert len(tokenizer.terms(text)) <= len(text)


def test_clauses_are_not_remembered() -> None:
    """Han is written without spaces: its runs hardly come back, and would fill the memory."""
    tokenizer = Tokenizer()
    tokenizer.terms("中文合同 " + "x" * 300 + " naïve word")
    assert set(tokenizer._cache) == {"naïve", "word"}


WORDS = st.text(
    st.one_of(
        st.sampled_from("aZ_09.+#-é\u0301ßहि中한\u200d\ufeffＡ⁺"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=12,
)


@settings(max_examples=300, deadline=None)
@given(text=WORDS)
def test_any_text_gives_words(text: str, tokenizer: Tokenizer) -> None:
    """No term is empty, holds white space or a capital letter."""
    for term in tokenizer.terms(text):
        assert term
        assert not any(map(str.isspace, term))
        assert not any("A" <= char <= "Z" for char in term)


@settings(max_examples=100, deadline=None)
@given(text=WORDS)
def test_a_query_meets_the_document_it_is_copied_from(text: str, tokenizer: Tokenizer) -> None:
    """Query and document terms come from one expansion."""
    assert set(tokenizer.query_terms(text)) <= set(tokenizer.terms(text))


@settings(max_examples=100, deadline=None)
@given(text=WORDS)
def test_the_cache_changes_nothing(text: str, tokenizer: Tokenizer) -> None:
    """A fresh tokenizer says what a used one says."""
    assert tokenizer.terms(text) == Tokenizer().terms(text) == tokenizer.terms(text)
