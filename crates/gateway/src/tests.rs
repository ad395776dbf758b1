//! Requests to the router, without sockets: a client that fetches what it serves.
mod slow;

use super::*;
use axum::body::Body;
use axum::http::{HeaderMap, Response};
use http_body_util::BodyExt;
use recoup::FetchOptions;
use recoup::serve::{ServeOptions, Server, Unknown};
use std::time::Duration;
use tower::ServiceExt;

/// A gateway to a folder with a file of 100 kB, a page and a folder inside.
struct Site {
    router: Router,
    content: Vec<u8>,
    _server: Server,
    folder: tempfile::TempDir,
}

impl Site {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..100_000_u32).flat_map(|number| number.to_le_bytes()).collect();
        std::fs::write(folder.path().join("movie.mp4"), &content).unwrap();
        std::fs::write(folder.path().join("x=1 & <2>.html"), "<p>page</p>").unwrap();
        std::fs::write(folder.path().join("empty"), "").unwrap();
        std::fs::create_dir(folder.path().join("inside")).unwrap();
        let client = Client::builder().alone().connect().await.unwrap();
        let server = client.serve("/site").folder(folder.path()).await.unwrap();
        let router = router(client, Hosts::default());
        Self { router, content, _server: server, folder }
    }

    async fn send(&self, method: &str, path: &str, fields: &[(&str, &str)]) -> Response<Body> {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        for (field, value) in fields {
            request = request.header(*field, *value);
        }
        self.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    async fn get(&self, path: &str, fields: &[(&str, &str)]) -> (StatusCode, HeaderMap, Vec<u8>) {
        read(self.send("GET", path, fields).await).await
    }
}

async fn read(response: Response<Body>) -> (StatusCode, HeaderMap, Vec<u8>) {
    let (parts, body) = response.into_parts();
    let content = body.collect().await.unwrap().to_bytes();
    (parts.status, parts.headers, content.to_vec())
}

fn field<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn object_arrives_with_its_description() {
    let site = Site::new().await;
    let (status, headers, content) = site.get("/ndn/site/movie.mp4", &[]).await;
    assert_eq!((status, content.len()), (StatusCode::OK, site.content.len()));
    assert!(content == site.content);
    assert_eq!(field(&headers, "content-type"), "video/mp4");
    assert_eq!(field(&headers, "content-length"), "400000");
    assert_eq!(field(&headers, "accept-ranges"), "bytes");
    assert_eq!(field(&headers, "cache-control"), "no-cache");
    assert_eq!(field(&headers, "x-content-type-options"), "nosniff");
    let policy = field(&headers, "content-security-policy");
    assert!(policy.starts_with("sandbox") && !policy.contains("allow-scripts"));
    assert_eq!(field(&headers, "cross-origin-resource-policy"), "same-origin");
    assert!(headers.contains_key("last-modified"));
    let (version, _) = field(&headers, "etag").trim_matches('"').split_once('-').unwrap();
    assert_eq!(field(&headers, "content-location"), format!("/uri/site/movie.mp4/v={version}"));

    let path = field(&headers, "content-location").to_owned();
    let (status, headers, content) = site.get(&path, &[]).await;
    assert!(status == StatusCode::OK && content == site.content);
    assert!(field(&headers, "cache-control").contains("immutable"));
    assert_eq!(field(&headers, "content-type"), "video/mp4");
}

#[tokio::test]
async fn ranges_are_those_of_the_file() {
    let site = Site::new().await;
    for (text, range) in [
        ("bytes=0-0", 0..1),
        ("bytes=7999-8000", 7_999..8_001),
        ("bytes=123456-234567", 123_456..234_568),
        ("bytes=399999-", 399_999..400_000),
        ("bytes=-5", 399_995..400_000),
    ] {
        let (status, headers, content) = site.get("/ndn/site/movie.mp4", &[("range", text)]).await;
        assert_eq!(status, StatusCode::PARTIAL_CONTENT, "{text}");
        assert!(content == site.content[range.clone()], "{text}");
        let expected = format!("bytes {}-{}/400000", range.start, range.end - 1);
        assert_eq!(field(&headers, "content-range"), expected);
    }
    let (status, headers, _) = site.get("/ndn/site/movie.mp4", &[("range", "bytes=400000-")]).await;
    assert_eq!(status, StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(field(&headers, "content-range"), "bytes */400000");
}

#[tokio::test]
async fn head_has_no_content() {
    let site = Site::new().await;
    let (status, headers, content) =
        read(site.send("HEAD", "/ndn/site/movie.mp4", &[]).await).await;
    assert_eq!((status, content.len()), (StatusCode::OK, 0));
    assert_eq!(field(&headers, "content-length"), "400000");
    let fields = [("range", "bytes=0-9"), ("if-range", "\"1\"")];
    for fields in [&fields[..1], &fields, &[("range", "bytes=400000-")]] {
        let (status, headers, _) =
            read(site.send("HEAD", "/ndn/site/movie.mp4", fields).await).await;
        assert_eq!((status, field(&headers, "content-length")), (StatusCode::OK, "400000"));
        assert!(!headers.contains_key("content-range"));
    }
    let (status, headers, content) = site.get("/ndn/site/empty", &[]).await;
    assert_eq!(
        (status, field(&headers, "content-length"), content.len()),
        (StatusCode::OK, "0", 0)
    );
}

#[tokio::test]
async fn conditions_save_content_that_is_known() {
    let site = Site::new().await;
    let (_, headers, _) = read(site.send("HEAD", "/ndn/site/movie.mp4", &[]).await).await;
    let (tag, modified) = (field(&headers, "etag"), field(&headers, "last-modified"));
    for (name, value, status) in [
        ("if-none-match", tag, 304),
        ("if-none-match", "\"1\"", 200),
        ("if-match", tag, 200),
        ("if-match", "\"1\"", 412),
        ("if-modified-since", modified, 304),
        ("if-modified-since", "Thu, 01 Jan 1998 00:00:00 GMT", 200),
        ("if-unmodified-since", "Thu, 01 Jan 1998 00:00:00 GMT", 412),
    ] {
        let (got, headers, content) = site.get("/ndn/site/movie.mp4", &[(name, value)]).await;
        assert_eq!(got.as_u16(), status, "{name}: {value}");
        assert_eq!(content.len(), if status == 200 { 400_000 } else { 0 }, "{name}: {value}");
        assert_eq!(field(&headers, "etag"), tag);
    }
    for (value, status) in [(tag, 206), ("\"1\"", 200)] {
        let fields = [("if-range", value), ("range", "bytes=0-9")];
        let (got, ..) = site.get("/ndn/site/movie.mp4", &fields).await;
        assert_eq!(got.as_u16(), status, "{value}");
    }
}

#[tokio::test]
async fn changed_file_has_another_tag() {
    let site = Site::new().await;
    let (_, before, _) = site.get("/ndn/site/movie.mp4", &[]).await;
    std::fs::write(site.folder.path().join("movie.mp4"), "other").unwrap();
    let known = [("if-none-match", field(&before, "etag"))];
    let (status, after, content) = site.get("/ndn/site/movie.mp4", &known).await;
    assert_eq!((status, content), (StatusCode::OK, b"other".to_vec()));
    assert!(field(&after, "etag") != field(&before, "etag"));
}

#[tokio::test]
async fn folder_is_a_page_and_json() {
    let site = Site::new().await;
    let response = site.send("GET", "/ndn/site", &[]).await;
    assert!(response.status().is_redirection());
    assert_eq!(field(response.headers(), "location"), "/ndn/site/");

    let (status, _, page) = site.get("/ndn/site/", &[]).await;
    let page = String::from_utf8(page).unwrap();
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("<a href=\"./inside/\">inside/</a>"), "{page}");
    assert!(page.contains("x=1 &amp; &lt;2&gt;.html</a>"), "{page}");
    assert!(page.contains("<a href=\"/\">../</a>"), "{page}");
    assert!(page.contains("movie.mp4</a></td><td>400 kB</td><td class=\"time\">"), "{page}");
    assert!(page.contains(" GMT</td>"), "{page}");

    let (_, headers, json) = site.get("/ndn/site/", &[("accept", "application/json")]).await;
    assert_eq!(field(&headers, "content-type"), "application/json");
    let lines: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let href = lines[3]["href"].as_str().unwrap().strip_prefix("./").unwrap();
    let (status, headers, page) = site.get(&format!("/ndn/site/{href}"), &[]).await;
    assert_eq!((status, &*page), (StatusCode::OK, &b"<p>page</p>"[..]));
    assert_eq!(field(&headers, "content-type"), "text/html; charset=utf-8");
}

#[tokio::test]
async fn page_describes_until_the_first_timeout() {
    let soon = FetchOptions { no_progress: Duration::from_secs(1), ..FetchOptions::default() };
    let client = Client::builder().alone().options(soon).connect().await.unwrap();
    let options = ServeOptions { unknown: Unknown::Silence, ..ServeOptions::default() };
    let _listing = client.serve("/names/32=ls").bytes(slow::listing(200)).await.unwrap();
    let silent = client.serve("/names").options(options).bytes("").await.unwrap();
    let request = Request::get("/ndn/names/").header("host", "localhost").body(Body::empty());
    let response = router(client, Hosts::default()).oneshot(request.unwrap()).await.unwrap();
    let page = String::from_utf8(read(response).await.2).unwrap();
    assert_eq!(page.matches("<tr>").count(), 1 + 200);
    let asked = silent.summary().unknown;
    assert!((1..100).contains(&asked), "{asked}");
}

#[tokio::test]
async fn webdav_lists_a_folder() {
    let site = Site::new().await;
    let (status, _, body) =
        read(site.send("PROPFIND", "/ndn/site/", &[("depth", "1")]).await).await;
    let body = String::from_utf8(body).unwrap();
    assert_eq!(status, StatusCode::MULTI_STATUS);
    assert!(body.contains("/ndn/site/movie.mp4</D:href>"), "{body}");
    assert!(body.contains("<D:getcontentlength>400000</D:getcontentlength>"), "{body}");
    assert!(body.contains("/ndn/site/inside/</D:href>"), "{body}");
    for (path, lines) in [("/ndn/site/movie.mp4", 1), ("/ndn/site/", 5)] {
        let (status, _, body) = read(site.send("PROPFIND", path, &[]).await).await;
        assert_eq!(status, StatusCode::MULTI_STATUS, "{path}");
        let body = String::from_utf8(body).unwrap();
        assert_eq!(body.matches("<D:href>").count(), lines, "{body}");
    }
    let (status, ..) =
        read(site.send("PROPFIND", "/ndn/site/nothing", &[("depth", "0")]).await).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let fields = [("depth", "infinity"), ("x-litmus", "1")];
    let (status, ..) = read(site.send("PROPFIND", "/ndn/site/", &fields).await).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let fields = [("depth", "2")];
    let (status, ..) = read(site.send("PROPFIND", "/ndn/site/", &fields).await).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn webdav_properties_are_those_of_the_answer() {
    let site = Site::new().await;
    let (_, headers, _) = read(site.send("HEAD", "/ndn/site/movie.mp4", &[]).await).await;
    let (_, _, body) = read(site.send("PROPFIND", "/ndn/site/movie.mp4", &[]).await).await;
    let body = String::from_utf8(body).unwrap();
    for (property, name) in [
        ("getetag", "etag"),
        ("getlastmodified", "last-modified"),
        ("getcontentlength", "content-length"),
        ("getcontenttype", "content-type"),
    ] {
        let value = field(&headers, name).replace('"', "&quot;");
        let element = format!("<D:{property}>{value}</D:{property}>");
        assert!(!value.is_empty() && body.contains(&element), "{element}: {body}");
    }
    roxmltree::Document::parse(&body).unwrap();
}

#[tokio::test]
async fn nothing_can_be_changed() {
    let site = Site::new().await;
    for method in ["PUT", "DELETE", "POST", "MKCOL", "MOVE", "LOCK", "PROPPATCH"] {
        let response = site.send(method, "/ndn/site/movie.mp4", &[]).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(field(response.headers(), "allow"), METHODS);
    }
    for path in ["/ndn/site/", "/ndn/site/nothing", "*"] {
        let response = site.send("OPTIONS", path, &[]).await;
        assert_eq!(field(response.headers(), "dav"), "1", "{path}");
        assert_eq!(field(response.headers(), "allow"), METHODS);
    }
}

#[tokio::test]
async fn errors_are_one_line() {
    let site = Site::new().await;
    let long = format!("/ndn/site/{}", "x".repeat(9_000));
    for (path, status) in [
        ("/ndn/site/nothing", 404),
        ("/other", 404),
        ("/open?name=", 400),
        (&long, 414),
        ("/uri/site/x=1", 400),
        ("/ndn/localhost/nfd/status", 403),
        ("/uri/localhop/nfd/32=x", 403),
        ("/ndn/site/../localhost/a", 403),
    ] {
        let (got, _, text) = site.get(path, &[]).await;
        assert_eq!(got.as_u16(), status, "{path}");
        assert_eq!(String::from_utf8(text).unwrap().lines().count(), 1, "{path}");
    }
    for (path, to) in [
        ("/open?name=ndn:/site/movie.mp4", "/ndn/site/movie.mp4"),
        ("/open?name=/site/movie.mp4/v=7", "/uri/site/movie.mp4/v=7"),
        ("/uri/site/8=movie.mp4", "/ndn/site/movie.mp4"),
    ] {
        let (status, headers, _) = site.get(path, &[]).await;
        assert!(status.is_redirection(), "{path}");
        assert_eq!(field(&headers, "location"), to);
    }
}

/// Names that mean something else in an NDN URI, a relative reference or an escape.
const FILE_NAMES: [&str; 9] =
    ["a:b.txt", "v=1", "t=5", "8=foo", "32=ls", "seg=3", "50%", "...", "year=2024"];

#[tokio::test]
async fn files_are_found_however_their_path_is_escaped() {
    let site = Site::new().await;
    for file in FILE_NAMES {
        std::fs::write(site.folder.path().join(file), file).unwrap();
    }
    let (_, _, page) = site.get("/ndn/site/", &[("accept", "application/json")]).await;
    let lines: serde_json::Value = serde_json::from_slice(&page).unwrap();
    let (_, _, listing) = read(site.send("PROPFIND", "/ndn/site/", &[]).await).await;
    let listing = String::from_utf8(listing).unwrap();
    for file in FILE_NAMES {
        let line = lines.as_array().unwrap().iter().find(|line| line["name"] == file).unwrap();
        let link = line["href"].as_str().unwrap().strip_prefix("./").unwrap();
        let every: String = file.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for way in [
            link,
            &link.to_lowercase(),
            &link.replace("%3D", "="),
            &link.replace("%3A", ":"),
            &every,
        ] {
            for path in [format!("/ndn/site/{way}"), format!("/ndn/site/./x/../{way}")] {
                let (status, _, content) = site.get(&path, &[]).await;
                assert_eq!((status, &*content), (StatusCode::OK, file.as_bytes()), "{path}");
            }
        }
        assert!(listing.contains(&format!("<D:href>/ndn/site/{link}</D:href>")), "{listing}");
    }
}

#[tokio::test]
async fn foreign_hosts_are_rejected() {
    let site = Site::new().await;
    for (target, hosts, status) in [
        ("/ndn/site/empty", &["evil.example"][..], 421),
        ("/ndn/site/empty", &["localhost.evil.example:8080"], 421),
        ("/ndn/site/empty", &[], 400),
        ("/ndn/site/empty", &["localhost", "localhost"], 400),
        ("/ndn/site/empty", &["localhost", "evil.example"], 400),
        ("http://evil.example/ndn/site/empty", &["localhost"], 421),
        ("http://localhost:80@evil.example/ndn/site/empty", &["localhost"], 421),
        ("http://evil.example@localhost/ndn/site/empty", &["localhost"], 421),
        ("http://localhost:8080/ndn/site/empty", &["localhost:8080"], 200),
        ("http://localhost:8080/ndn/site/empty", &[], 400),
    ] {
        let request = Request::builder().uri(target);
        let request = hosts.iter().fold(request, |request, host| request.header("host", *host));
        let request = request.body(Body::empty()).unwrap();
        let response = site.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{target} {hosts:?}");
    }
}

#[tokio::test]
async fn other_origins_may_link_and_not_include() {
    let site = Site::new().await;
    for (origin, mode, destination, status) in [
        ("none", "navigate", "document", 200),
        ("same-origin", "no-cors", "image", 200),
        ("same-origin", "cors", "empty", 200),
        ("cross-site", "navigate", "document", 200),
        ("same-site", "navigate", "document", 200),
        ("cross-site", "no-cors", "image", 403),
        ("cross-site", "no-cors", "script", 403),
        ("cross-site", "cors", "empty", 403),
        ("cross-site", "navigate", "iframe", 403),
        ("cross-site", "navigate", "object", 403),
        ("same-site", "no-cors", "video", 403),
        ("unheard-of", "no-cors", "image", 403),
    ] {
        let fields =
            [("sec-fetch-site", origin), ("sec-fetch-mode", mode), ("sec-fetch-dest", destination)];
        for path in ["/ndn/site/empty", "/ndn/site/", "/"] {
            let (got, headers, _) = site.get(path, &fields).await;
            assert_eq!(got.as_u16(), status, "{path}: {fields:?}");
            assert_eq!(field(&headers, "cross-origin-resource-policy"), "same-origin");
        }
        let (got, ..) = read(site.send("PROPFIND", "/ndn/site/", &fields).await).await;
        assert_eq!(got.is_success(), ["none", "same-origin"].contains(&origin), "{fields:?}");
    }
}

#[tokio::test]
async fn sockets_answer_until_the_end() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let site = Site::new().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::spawn(serve(listener, site.router.clone(), async move {
        let _ = ended.await;
    }));
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request =
        "GET /ndn/site/movie.mp4 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n") && answer.ends_with(&site.content));
    end.send(()).unwrap();
    server.await.unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
