#!/bin/sh
# Fetch the records of the day before from a Cairn and keep the last few.
#
# Usage: nightly-copy.sh HOST [TARGET]
# Exit status: 0 done, 1 wrong usage, 2 too little space, 3 transfer failed,
# 4 the file is damaged.

set -eu

PORT=8417
RETAIN_DAYS=16
MIN_FREE_MB=350
TRIES=5
PAUSE=90

if [ $# -lt 1 ]; then
    echo "usage: $0 HOST [TARGET]" >&2
    exit 1
fi
host=$1
target=${2:-/var/lib/selkmoor/copies}
day=$(date -u -d yesterday +%Y-%m-%d)
mkdir -p "$target"

# A half-written archive is worse than none, so look at the space first.
free=$(df -Pm "$target" | awk 'NR == 2 { print $4 }')
if [ "$free" -lt "$MIN_FREE_MB" ]; then
    echo "only $free MB free in $target, $MIN_FREE_MB wanted" >&2
    exit 2
fi

part="$target/.$day.part"
try=1
until curl -fsS -o "$part" "http://$host:$PORT/export?day=$day"; do
    if [ "$try" -ge "$TRIES" ]; then
        echo "no export from $host after $TRIES tries" >&2
        rm -f "$part"
        exit 3
    fi
    try=$((try + 1))
    # The Cairn compresses at night and answers late; give it time.
    sleep "$PAUSE"
done

# The last line of a complete export is "# end" and the number of records.
if ! tail -n 1 "$part" | grep -q '^# end [0-9][0-9]*$'; then
    echo "export of $day from $host is cut short" >&2
    rm -f "$part"
    exit 4
fi

mv "$part" "$target/$day.csv"
find "$target" -name '*.csv' -mtime "+$RETAIN_DAYS" -delete
