# Checks of the packages by hand, counted. $scratch is a folder for what a command says.
# shellcheck shell=bash
n_passed=0 n_failed=0 n_skipped=0
check() {
    local what=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then
        echo "passed   $what"
        n_passed=$((n_passed + 1))
    else
        echo "FAILED   $what"
        tail -n 30 "$scratch/said" | sed 's/^/    /'
        n_failed=$((n_failed + 1))
    fi
}

# refused SENTENCE COMMAND...: the command fails, and says so.
refused() {
    local sentence=$1
    shift
    if "$@" >"$scratch/refused" 2>&1; then
        echo "not refused: $*"
        return 1
    fi
    grep -E "$sentence" "$scratch/refused" || { cat "$scratch/refused" && return 1; }
}

skip() {
    echo "skipped  $*"
    n_skipped=$((n_skipped + 1))
}
