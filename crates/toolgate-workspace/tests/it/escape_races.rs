//! Somebody who exchanges a folder, or a file, for a link that leads out while the tools work. Every answer is from inside or a refusal.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::room::{Room, SECRET};

/// Exchanges two names, as fast as it can, until it is dropped.
struct Exchange {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl Exchange {
    fn of(ws: &Path, one: &str, other: &str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (one, other, until) = (ws.join(one), ws.join(other), stop.clone());
        let thread = std::thread::spawn(move || {
            let mut turns = 0;
            while !until.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                turns += 1;
            }
            turns
        });
        Self { stop, thread: Some(thread) }
    }

    fn turns(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The folder outside must stay as it was made.
fn outside_is_untouched(room: &Room) {
    let mut names: Vec<_> =
        std::fs::read_dir(room.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["deep", "secret.txt"]);
    assert_eq!(std::fs::read_to_string(room.outside().join("secret.txt")).unwrap(), SECRET);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_becomes_a_link_gives_nothing_away() {
    let room = Room::with(&[("swap/secret.txt", "harmless"), ("swap/deep/secret.txt", "harmless")]).await;
    room.link("other", room.outside());
    let exchange = Exchange::of(&room.ws(), "swap", "other");
    let calls = [
        ("read_file", json!({"path": "swap/secret.txt"})),
        ("read_file", json!({"path": "swap/deep/secret.txt"})),
        ("list_directory", json!({"path": "swap"})),
        ("glob", json!({"pattern": "**/*.txt"})),
        ("search_file_content", json!({"pattern": "SECRET"})),
        ("search_file_content", json!({"pattern": "SECRET", "path": "swap/deep"})),
        ("write_file", json!({"path": "swap/new.txt", "content": "pwned"})),
        ("write_file", json!({"path": "swap/new/new.txt", "content": "pwned"})),
        ("write_file", json!({"path": "swap/secret.txt", "content": "harmless"})),
        ("replace", json!({"path": "swap/secret.txt", "old_string": "SECRET", "new_string": "pwned"})),
    ];
    let (mut done, mut refused) = (0, 0);
    for _ in 0..150 {
        for (tool, arguments) in &calls {
            let told = room.call(tool, arguments.clone()).await;
            assert!(!told.0.to_string().contains(SECRET), "{tool} {arguments} told the secret");
            if told.is_error() { refused += 1 } else { done += 1 }
        }
    }
    assert!(exchange.turns() > 0 && done > 0, "{done} done, {refused} refused");
    outside_is_untouched(&room);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_becomes_a_link_is_neither_read_nor_written_through() {
    let room = Room::with(&[("swap", "harmless")]).await;
    room.link("other", "../outside/secret.txt");
    let exchange = Exchange::of(&room.ws(), "swap", "other");
    for _ in 0..300 {
        for (tool, arguments) in [
            ("read_file", json!({"path": "swap"})),
            ("search_file_content", json!({"pattern": "SECRET"})),
            ("replace", json!({"path": "swap", "old_string": "SECRET", "new_string": "pwned"})),
        ] {
            let told = room.call(tool, arguments).await;
            assert!(!told.0.to_string().contains(SECRET), "{tool} told the secret");
        }
    }
    assert!(exchange.turns() > 0);
    outside_is_untouched(&room);
    // A write takes the place of whatever has the name, a link too; it is never followed out.
    room.link("another", "../outside/secret.txt");
    room.put("swap2", b"harmless");
    let exchange = Exchange::of(&room.ws(), "swap2", "another");
    for _ in 0..300 {
        room.call("write_file", json!({"path": "swap2", "content": "harmless"})).await;
    }
    exchange.turns();
    outside_is_untouched(&room);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_starts_inside_or_not_at_all() {
    let room = Room::with(&[("swap/secret.txt", "harmless")]).await;
    room.link("other", room.outside());
    let exchange = Exchange::of(&room.ws(), "swap", "other");
    for _ in 0..60 {
        let told = room.call("run_shell_command", json!({"command": "cat secret.txt", "cwd": "swap"})).await;
        assert!(!told.0.to_string().contains(SECRET), "it started outside");
        assert!(told.is_error() || told.text() == "harmless", "{}", told.text());
    }
    assert!(exchange.turns() > 0);
}
