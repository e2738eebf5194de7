//! The folder of kept results: what is found again, what is refused, what makes room.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{BOUNDS, Bounds, ResultStore};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::error::{Error, ErrorKind};
use crate::limits::{RESULT_BYTES_MAX, RESULT_SLICE_BYTES_MAX};
use crate::results::{ResultHandle, SliceContent};

const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

struct Room(tempfile::TempDir);

impl Room {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn store(&self) -> ResultStore {
        ResultStore::new(&HostEnv {
            vars: BTreeMap::new(),
            dirs: HostDirs { user: self.0.path().join("user"), system: "/none".into(), home: None },
            workspace: self.0.path().into(),
            clock: Arc::new(SystemClock),
        })
    }

    fn file(&self, handle: &ResultHandle) -> PathBuf {
        let text = handle.to_string();
        let digits = text.strip_prefix("sha256:").unwrap();
        self.0.path().join("user/results").join(digits.get(..2).unwrap()).join(digits)
    }
}

fn set_age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn is_young(path: &Path) -> bool {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    SystemTime::now().duration_since(modified).is_ok_and(|age| age < Duration::from_secs(1_000))
}

fn said<T: std::fmt::Debug>(result: Result<T, Error>) -> (ErrorKind, String) {
    let error = result.unwrap_err();
    (error.kind(), error.to_string())
}

#[test]
fn what_is_kept_is_read_by_its_handle_or_the_beginning_of_it() {
    let room = Room::new();
    let handle = room.store().keep(b"abc").unwrap();
    assert_eq!((handle.to_string().as_str(), handle.bytes()), (ABC, 3));
    let path = room.file(&handle);
    assert_eq!(fs::read(&path).unwrap(), b"abc");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = path.parent().unwrap();
        assert_eq!((mode(&path), mode(folder), mode(folder.parent().unwrap())), (0o600, 0o700, 0o700));
    }
    for written in [ABC, &handle.short(), "sha256:ba7816bf8f01", "sha256:BA7816BF8F01CF"] {
        set_age(&path, 5_000);
        let slice = room.store().read(written, 0, 100).unwrap();
        assert_eq!((slice.content, slice.next, slice.total), (SliceContent::Text("abc".to_owned()), None, 3));
        assert!(is_young(&path), "reading is using");
        assert_eq!(room.store().size(written).unwrap(), 3);
    }
    set_age(&path, 5_000);
    assert_eq!(room.store().keep(b"abc").unwrap(), handle);
    assert!(is_young(&path));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "the same content is kept once");
    assert_eq!((room.store().forget_all(), room.store().forget_all()), (1, 0));
}

#[test]
fn what_cannot_be_found_is_said_clearly() {
    let room = Room::new();
    let store = room.store();
    let unknown = (ErrorKind::UnknownResult, "no kept result begins with `sha256:ba7816bf8f01`".to_owned());
    assert_eq!(said(store.read("sha256:ba7816bf8f01", 0, 9)), unknown);
    store.keep(b"abd").unwrap();
    assert_eq!(said(store.size("sha256:ba7816bf8f01")), unknown);
    let no_handle = "`../../../etc/passwd` names no kept result".to_owned();
    assert_eq!(said(store.lines("../../../etc/passwd", 1, 1)), (ErrorKind::UnknownResult, no_handle));
    let handle = store.keep(b"abc").unwrap();
    let path = room.file(&handle);
    let twin = path.with_file_name(format!("{}{}", "ba7816bf8f01", "0".repeat(52)));
    fs::write(&twin, "twin").unwrap();
    let several = "several kept results begin with `sha256:ba7816bf8f01`".to_owned();
    assert_eq!(said(store.read("sha256:ba7816bf8f01", 0, 9)), (ErrorKind::UnknownResult, several));
    assert!(store.read("sha256:ba7816bf8f01c", 0, 9).is_ok());
}

#[test]
fn a_changed_file_is_an_error_and_put_right_when_it_is_kept_again() {
    let room = Room::new();
    let store = room.store();
    let handle = store.keep(b"abc").unwrap();
    let path = room.file(&handle);
    let changed = "the kept result sha256:ba7816bf8f01cfea is not what was kept".to_owned();
    for content in ["abd", "ab", "", "abcd"] {
        fs::write(&path, content).unwrap();
        assert_eq!(said(store.read(ABC, 0, 9)), (ErrorKind::State, changed.clone()), "{content}");
        assert_eq!(said(store.lines(ABC, 1, 1)), (ErrorKind::State, changed.clone()), "{content}");
        assert_eq!(said(store.find(ABC, "a", 1)), (ErrorKind::State, changed.clone()), "{content}");
        store.keep(b"abc").unwrap();
        assert!(store.read(ABC, 0, 9).is_ok());
    }
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(said(store.lines(ABC, 1, 1)), (ErrorKind::State, changed));
    store.keep(b"abc").unwrap();
    #[cfg(unix)]
    {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        let no_file = "cannot read the kept result sha256:ba7816bf8f01cfea: not a regular file".to_owned();
        assert_eq!(said(store.read(ABC, 0, 9)), (ErrorKind::State, no_file));
        store.keep(b"abc").unwrap();
        assert!(!path.is_symlink() && store.read(ABC, 0, 9).is_ok());
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(store.read(ABC, 0, 9).is_err());
    store.keep(b"abc").unwrap();
    assert!(store.read(ABC, 0, 9).is_ok());
}

#[test]
fn slices_of_a_file_are_those_of_its_content() {
    let room = Room::new();
    let store = room.store();
    let contents: [Vec<u8>; 4] =
        ["aß漢👍z\n".repeat(30).into_bytes(), Vec::new(), vec![0x80; 100], vec![b'x'; RESULT_SLICE_BYTES_MAX + 10]];
    for content in contents {
        let handle = store.keep(&content).unwrap();
        let total = handle.bytes();
        for offset in [0, 1, 2, 3, 4, 5, 50, total.saturating_sub(1), total, total + 1, u64::MAX] {
            for limit in [0, 1, 3, 4, 7, usize::MAX] {
                let most = u64::try_from(limit.clamp(1, RESULT_SLICE_BYTES_MAX)).unwrap();
                let (start, end) = (offset.min(total), offset.min(total).saturating_add(most).min(total));
                let expected = crate::results::look::slice(&content, 0, start..end, total);
                assert_eq!(store.read(&handle.short(), offset, limit).unwrap(), expected, "{limit} from {offset}");
            }
        }
    }
}

#[test]
fn lines_and_places_are_found_in_text_only() {
    let room = Room::new();
    let store = room.store();
    let text = store.keep(b"one\ntwo\nthree two\n").unwrap().short();
    let lines = store.lines(&text, 2, 1).unwrap();
    assert_eq!((lines.lines[0].text.as_str(), lines.next, lines.total), ("two", Some(3), 3));
    assert_eq!(store.lines(&text, 2, 0).unwrap().lines.len(), 1, "at least one");
    let found = store.find(&text, "two", 1).unwrap();
    assert_eq!((found.matches.len(), found.total), (1, 2));
    for (needle, what) in [(String::new(), 0), ("x".repeat(1_025), 1_025)] {
        let expected = format!("a text of {what} bytes cannot be looked for");
        assert_eq!(said(store.find(&text, &needle, 1)), (ErrorKind::InvalidArguments, expected));
    }
    let bytes = store.keep(&[0xff; 4]).unwrap().short();
    let expected = (ErrorKind::InvalidArguments, format!("the result {bytes} is not text"));
    assert_eq!(said(store.lines(&bytes, 1, 1)), expected);
    assert_eq!(said(store.find(&bytes, "x", 1)), expected);
}

#[test]
fn a_result_that_is_too_large_is_refused_by_name() {
    let room = Room::new();
    let large = vec![0; usize::try_from(RESULT_BYTES_MAX).unwrap() + 1];
    let expected = "a result of 67108865 bytes is not kept: at most 67108864 are".to_owned();
    assert_eq!(said(room.store().keep(&large)), (ErrorKind::Limit, expected));
    assert!(!room.0.path().join("user").exists());
}

#[test]
fn what_was_used_longest_ago_makes_room() {
    let room = Room::new();
    let store = ResultStore { bounds: Bounds { files: 3, bytes: 10, ..BOUNDS }, ..room.store() };
    let [one, two, three] = ["1", "22", "333"].map(|text| store.keep(text.as_bytes()).unwrap());
    let is_kept = |handle: &ResultHandle| room.file(handle).exists();
    set_age(&room.file(&one), 300);
    set_age(&room.file(&two), 200);
    set_age(&room.file(&three), 100);
    store.read(&one.to_string(), 0, 1).unwrap();
    let four = store.keep(b"4").unwrap();
    assert!(!is_kept(&two) && is_kept(&one) && is_kept(&three) && is_kept(&four), "three at most");
    set_age(&room.file(&one), 50);
    let large = store.keep(b"7777777").unwrap();
    assert!(!is_kept(&three) && is_kept(&one) && is_kept(&four) && is_kept(&large), "ten bytes at most");
    let too_much = store.keep(b"more than ten bytes").unwrap();
    assert!(is_kept(&too_much), "what was kept just now stays");
    let old = store.keep(b"0").unwrap();
    set_age(&room.file(&old), 31 * 24 * 60 * 60);
    room.store().keep(b"new").unwrap();
    assert!(!is_kept(&old), "a month at most");
}

#[test]
fn where_nothing_can_be_written_that_is_said() {
    let room = Room::new();
    fs::write(room.0.path().join("user"), "a file where the folder should be").unwrap();
    let (kind, what) = said(room.store().keep(b"abc"));
    assert_eq!(kind, ErrorKind::State);
    assert!(what.starts_with("cannot keep a result in ") && what.contains("/user/results/ba/"), "{what}");
    assert!(room.store().read(ABC, 0, 1).is_err() && room.store().forget_all() == 0);
}

#[test]
fn several_processes_keep_and_read_at_once() {
    let room = Room::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let store = room.store();
                for number in 0..20 {
                    let content = format!("{number} ").repeat(10_000);
                    let handle = store.keep(content.as_bytes()).unwrap();
                    assert_eq!(store.lines(&handle.short(), 1, 1).unwrap().total, 1);
                }
            });
        }
    });
    assert_eq!(room.store().forget_all(), 20);
}
