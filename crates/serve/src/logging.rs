//! The log: a JSON object a line on standard error. Bodies, tokens, hashes and file names do not occur in it.

use tracing::Level;

/// Begins to log, once a process.
pub fn begin() {
    let logging = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false)
        .with_max_level(Level::INFO)
        // A line that cannot be written, on a full disk, ends no request: saying so would be a panic.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    // A program that logs already goes on as it does.
    let _ = logging.try_init();
}
