//! Spans as a file that trace viewers open: the JSON of Chrome's trace events, which Perfetto reads.

use std::collections::HashMap;
use std::io::{self, Write};

/// Writes what each unit did when. `ghz` turns cycles into microseconds; without it a cycle is a microsecond.
///
/// # Errors
/// Those of the writer.
pub fn write<'s>(
    out: &mut impl Write,
    spans: impl IntoIterator<Item = (&'s str, &'s str, u64, u64)>,
    ghz: Option<f64>,
) -> io::Result<()> {
    let scale = ghz.filter(|ghz| *ghz > 0.0).map_or(1.0, |ghz| 1e-3 / ghz);
    let mut rows: HashMap<&str, usize> = HashMap::new();
    let mut first = true;
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut line = |out: &mut dyn Write| -> io::Result<()> {
        let before = if std::mem::take(&mut first) { "\n" } else { ",\n" };
        out.write_all(before.as_bytes())
    };
    for (unit, what, start, end) in spans {
        let next = rows.len();
        let row = *rows.entry(unit).or_insert(next);
        if row == next {
            line(out)?;
            write!(
                out,
                "{{\"ph\":\"M\",\"pid\":0,\"tid\":{row},\"name\":\"thread_name\",\"args\":{{\"name\":"
            )?;
            string(out, unit)?;
            write!(out, "}}}}")?;
        }
        line(out)?;
        let (at, long) = (start as f64 * scale, end.saturating_sub(start) as f64 * scale);
        write!(out, "{{\"ph\":\"X\",\"pid\":0,\"tid\":{row},\"ts\":{at},\"dur\":{long},\"name\":")?;
        string(out, what)?;
        write!(out, ",\"args\":{{\"first cycle\":{start},\"cycles\":{}}}}}", end.saturating_sub(start))?;
    }
    writeln!(out, "\n]}}")
}

fn string(out: &mut impl Write, text: &str) -> io::Result<()> {
    serde_json::to_writer(out, text).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_has_a_row_and_each_span_its_time() {
        let spans = [("ntt", "ntt, \"a\"", 0, 64), ("hbm", "key", 10, 20), ("ntt", "intt", 64, 128)];
        let mut out = Vec::new();
        write(&mut out, spans, Some(2.0)).unwrap();
        let outcome: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let events = outcome["traceEvents"].as_array().unwrap();
        let names: Vec<_> = events.iter().filter(|e| e["ph"] == "M").map(|e| &e["args"]["name"]).collect();
        assert_eq!(names, ["ntt", "hbm"]);
        let spans: Vec<_> = events.iter().filter(|e| e["ph"] == "X").collect();
        assert_eq!(spans.len(), 3);
        assert_eq!(spans[0]["name"], "ntt, \"a\"");
        assert_eq!(
            (spans[1]["tid"].as_u64(), spans[1]["ts"].as_f64(), spans[1]["dur"].as_f64()),
            (Some(1), Some(0.005), Some(0.005))
        );
        assert_eq!((spans[2]["tid"].as_u64(), spans[2]["args"]["first cycle"].as_u64()), (Some(0), Some(64)));
    }
}
