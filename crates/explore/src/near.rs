//! The valid word nearest to a mistyped one.

/// The word of `known` that `word` most resembles, if any does.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this two words have little in common (Jaro and Winkler's measure, 0 to 1).
    const RESEMBLES: f64 = 0.7;
    known
        .into_iter()
        .map(|k| (strsim::jaro_winkler(word, k), k))
        .filter(|&(score, _)| score >= RESEMBLES)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k)
}

/// " (did you mean …?)", or nothing.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map(|k| format!(" (did you mean {k:?}?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_a_letter_is_found_and_nonsense_is_not() {
        let known = ["resources", "memory", "clock"];
        assert_eq!(nearest("resorces", known), Some("resources"));
        assert_eq!(nearest("Memory", known), Some("memory"));
        assert_eq!(nearest("xyz", known), None);
        assert_eq!(hint("clok", known), " (did you mean \"clock\"?)");
    }
}
