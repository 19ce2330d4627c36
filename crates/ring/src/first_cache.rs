//! The size of this CPU's first cache.

use std::sync::OnceLock;

/// Bytes of the first data cache as the CPU reports them; 32 KiB, the smallest in use, if it does not.
pub(crate) fn first_cache_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| reported().unwrap_or(32 << 10))
}

#[cfg(target_arch = "x86_64")]
fn reported() -> Option<usize> {
    use raw_cpuid::{CacheType, CpuId};
    let mut caches = CpuId::new().get_cache_parameters()?;
    let first = caches.find(|cache| cache.level() == 1 && cache.cache_type() == CacheType::Data)?;
    let lines = first.sets() * first.associativity() * first.physical_line_partitions();
    Some(lines * first.coherency_line_size())
}

#[cfg(not(target_arch = "x86_64"))]
fn reported() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::first_cache_bytes;

    /// Linux reads the same tables and says it in text.
    #[test]
    #[cfg(target_os = "linux")]
    fn it_is_what_the_system_says() {
        let index = "/sys/devices/system/cpu/cpu0/cache/index0";
        let read = |what: &str| std::fs::read_to_string(format!("{index}/{what}"));
        let (Ok(kind), Ok(size)) = (read("type"), read("size")) else { return };
        if kind.trim() == "Data" {
            assert_eq!(format!("{}K", first_cache_bytes() >> 10), size.trim());
        }
    }
}
