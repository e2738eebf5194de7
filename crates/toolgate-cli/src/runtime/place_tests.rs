//! Where the runtime is looked for, and what is refused there.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::{Found, Place};

#[test]
fn a_long_path_has_a_short_one_in_its_place() {
    let long = PathBuf::from(format!("/home/{}", "x".repeat(100)));
    let other = PathBuf::from(format!("/home/{}", "y".repeat(100)));
    assert_eq!(Place::of(Path::new("/u"), None).socket(), Path::new("/u/run/toolgate.sock"));
    let short = Place::of(&long, Some(Path::new("/run/user/1")));
    assert!(short.socket().starts_with("/run/user/1/toolgate"), "{short:?}");
    assert_ne!(short.socket(), Place::of(&other, Some(Path::new("/run/user/1"))).socket());
    for unusable in [None, Some(Path::new("relative"))] {
        assert!(Place::of(&long, unusable).socket().starts_with("/tmp"), "{unusable:?}");
    }
    assert_eq!(short.lock(), long.join("run/toolgate.lock"));
}

#[test]
fn what_others_could_change_is_refused() {
    let world = toolgate_testkit::TestWorld::new().unwrap();
    let (home, elsewhere) = (world.home(), world.root().join("elsewhere"));
    let place = Place::of(&home, Some(&world.root()));
    assert!(matches!(place.connect(), Found::Nobody));
    place.prepare().unwrap();
    assert!(matches!(place.connect(), Found::Nobody));
    let folder = place.socket().parent().unwrap().to_owned();
    let _listens = std::os::unix::net::UnixListener::bind(place.socket()).unwrap();
    assert!(matches!(place.connect(), Found::Runtime(_)));
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let refused = |place: &Place| match place.connect() {
        Found::NotOurs(reason) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&place), format!("{} can be entered by others", folder.display()));
    assert!(place.prepare().is_err());
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::rename(&folder, &elsewhere).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    assert_eq!(refused(&place), format!("{} is a link", folder.display()));
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&elsewhere, &folder).unwrap();
    std::fs::remove_file(place.socket()).unwrap();
    std::fs::write(place.socket(), "").unwrap();
    assert_eq!(refused(&place), format!("{} is no socket of yours", place.socket().display()));
}
