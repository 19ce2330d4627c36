//! The way to a board as bytes: a serial port, or a socket.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serial2::SerialPort;

use super::BoardError;

/// Where a board is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// The path of a serial port, and its bits a second.
    Serial(PathBuf, u32),
    /// Host and port.
    Tcp(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial(path, _) => write!(f, "serial={}", path.display()),
            Self::Tcp(address) => write!(f, "tcp={address}"),
        }
    }
}

/// An open port.
#[derive(Debug)]
pub(super) enum Port {
    /// A serial one.
    Serial(SerialPort),
    /// A socket.
    Tcp(TcpStream),
}

impl Place {
    /// Opens it; a socket within `patience`.
    pub(super) fn open(&self, patience: Duration) -> Result<Port, BoardError> {
        match self {
            Self::Serial(path, baud) => self.serial(path, *baud),
            Self::Tcp(address) => {
                let line = dial(address, patience).map_err(|e| self.closed(&e))?;
                line.set_nodelay(true).map_err(|e| self.closed(&e))?;
                Ok(Port::Tcp(line))
            }
        }
    }

    fn closed(&self, why: &io::Error) -> BoardError {
        BoardError::Closed { place: self.to_string(), why: why.to_string() }
    }

    fn serial(&self, path: &PathBuf, baud: u32) -> Result<Port, BoardError> {
        let place = || self.to_string();
        // Opening another kind of file might wait for its other end.
        let kind = std::fs::metadata(path).map_err(|e| self.closed(&e))?.file_type();
        if kind.is_dir() || kind.is_file() {
            let why = if kind.is_dir() { "a folder" } else { "a plain file" };
            return Err(BoardError::NotSerial { place: place(), why: why.into() });
        }
        let port = SerialPort::open(path, baud).map_err(|e| match e.kind() {
            ErrorKind::NotFound | ErrorKind::PermissionDenied => self.closed(&e),
            _ => BoardError::NotSerial { place: place(), why: e.to_string() },
        })?;
        flock(&port, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| BoardError::InUse { place: place() })?;
        port.discard_buffers().map_err(|e| self.closed(&e))?;
        Ok(Port::Serial(port))
    }
}

/// The first address of a host that answers.
fn dial(address: &str, patience: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
    for one in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&one, patience) {
            Ok(line) => return Ok(line),
            Err(e) => last = e,
        }
    }
    Err(last)
}

impl Port {
    /// Sends all of it; each piece within `patience`.
    pub(super) fn send(&mut self, bytes: &[u8], patience: Duration) -> io::Result<()> {
        match self {
            Self::Serial(port) => {
                port.set_write_timeout(patience)?;
                port.write_all(bytes)
            }
            Self::Tcp(line) => {
                line.set_write_timeout(Some(patience))?;
                line.write_all(bytes)
            }
        }
    }

    /// What there is to read, at least one byte, within `patience`. An end of the line is an error.
    pub(super) fn receive(&mut self, bytes: &mut [u8], patience: Duration) -> io::Result<usize> {
        let got = match self {
            Self::Serial(port) => {
                port.set_read_timeout(patience)?;
                port.read(bytes)?
            }
            Self::Tcp(line) => {
                line.set_read_timeout(Some(patience))?;
                line.read(bytes)?
            }
        };
        if got == 0 { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(got) }
    }
}

/// Whether an error says that nothing came in time.
pub(super) fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}
