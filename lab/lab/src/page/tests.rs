//! Pages, read as their script reads them.
use super::*;
use crate::scenario::ScenarioFile;
use flate2::read::DeflateDecoder;
use recoup_sim::film::MOST_EVENTS;
use recoup_sim::simulation::Simulation;
use std::io::Read;

/// Names that would end a script, or begin an element.
const HOSTILE: &str = r#"
title = "</script><script>alert(1)</script> {{data}} & <b>"
stop = "60 s"

[topology]
links = ["c-r", "r-p"]

[link]
rate = "10 Mbit/s"
delay = "5 ms"

[links.r-p]
loss = "bernoulli(p=0.1)"

[applications.c1]
kind = "fetch"
node = "c"
object = "/a%3C%2Fscript%3E%3C!--/%7B%7Bstyle%7D%7D"

[applications.p1]
kind = "serve"
node = "p"
prefix = "/a%3C%2Fscript%3E%3C!--/%7B%7Bstyle%7D%7D"
size = "50 kB"
segment = "1 kB"
"#;

/// A phone that passes an access point.
const MOVING: &str = r#"
stop = "20 s"

[topology]
nodes = ["phone", "point", "server"]
links = ["point-server"]

[link]
rate = "100 Mbit/s"
delay = "1 ms"

[nodes.phone]
position = [0, 5]
motion = "shuttle(east=50m,speed=60km/h)"

[nodes.point]
position = [25, 0]

[wifi]
standard = "n"
points = "point"
clients = "phone"

[applications.c1]
kind = "fetch"
node = "phone"
object = "/film"

[applications.p1]
kind = "serve"
node = "server"
prefix = "/film"
size = "100 kB"
"#;

/// A page, read as its script reads it.
struct Page {
    text: String,
    header: Value,
    columns: Vec<u8>,
}

impl Page {
    fn of(network: &Network, film: &Film, title: &str) -> Self {
        let mut bytes = Vec::new();
        write(network, film, title, "seed 1", &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let data = text.split("id=\"data\">").nth(1).unwrap().split('<').next().unwrap();
        let mut all = Vec::new();
        let packed = STANDARD.decode(data).unwrap();
        DeflateDecoder::new(&packed[..]).read_to_end(&mut all).unwrap();
        let length = u32::from_le_bytes(all[..4].try_into().unwrap()) as usize;
        assert_eq!((4 + length) % 8, 0);
        let header = serde_json::from_slice(&all[4..4 + length]).unwrap();
        Self { header, columns: all.split_off(4 + length), text }
    }

    /// A column of 32 bits; times are summed up.
    fn numbers(&self, name: &str) -> Vec<u32> {
        let heads = self.header["columns"].as_array().unwrap();
        let head = heads.iter().find(|head| head[0] == name).unwrap();
        let place = |part: usize| head[part].as_u64().unwrap() as usize;
        let bytes = &self.columns[place(2)..place(2) + 4 * place(3)];
        let mut sum = 0;
        let number = |bytes: &[u8]| {
            let number = u32::from_le_bytes(bytes.try_into().unwrap());
            sum = if head[1] == "times" { sum + number } else { number };
            sum
        };
        bytes.chunks(4).map(number).collect()
    }
}

fn filmed(text: &str, limit: usize) -> (Network, Film) {
    let file = ScenarioFile::parse(text, &[]).unwrap();
    let no_files = |_: &str| Err("there are no files here".to_owned());
    let mut network =
        file.scenario(&file.point(0).unwrap(), &no_files).unwrap().network(1).unwrap();
    network.follow_transmissions = true;
    let mut film = Film::new(&network, limit);
    Simulation::new(network.clone(), 1).unwrap().run(&mut [&mut film]);
    (network, film)
}

#[test]
fn page_holds_the_times_of_the_film() {
    let (network, film) = filmed(HOSTILE, MOST_EVENTS);
    let page = Page::of(&network, &film, "title");
    let tick = page.header["seconds"].as_f64().unwrap() * 1e9;
    let ticks = |at: Instant| (at.as_nanos() as f64 / tick) as u32;
    let sent: Vec<_> = film.crossings.iter().map(|it| ticks(it.sent)).collect();
    let left: Vec<_> = film.crossings.iter().map(|it| it.left.map_or(NONE, ticks)).collect();
    assert!(sent.len() > 200);
    assert_eq!(page.numbers("packets.sent"), sent);
    assert_eq!(page.numbers("packets.left"), left);
    assert_eq!(page.header["end"], ticks(film.end));
    assert_eq!(page.numbers("segments.asked").len(), 50);
    assert_eq!(page.header["nodes"][0][0], "c");
    assert_eq!(page.header["applications"][0][2], "consumer");
    let queue = page.header["links"][0]["channels"][0]["queue"].as_u64();
    assert_eq!(queue, network.links[0].forth.queue.packets);
    let windows = page.header["curves"].as_array().unwrap().iter().filter(|it| it[0] == "window");
    assert_eq!(windows.count(), 1);
}

#[test]
fn hostile_names_end_no_script() {
    let (network, film) = filmed(HOSTILE, MOST_EVENTS);
    let title = "</script><script>alert(1)</script> {{data}} & <b>";
    let page = Page::of(&network, &film, title);
    assert_eq!(page.text.matches("</script").count(), 2, "those of the frame");
    assert!(!page.text.contains("alert(1)</script>") && !page.text.contains("<b>"));
    let shown = "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; {{data}} &amp; &lt;b&gt;";
    assert!(page.text.contains(&format!("<title>{shown}</title>")));
    assert_eq!(page.header["title"], title);
    let name = page.header["names"][0].as_str().unwrap();
    assert!(name.contains("script") && name.contains("style"), "{name}");
}

#[test]
fn page_refers_to_no_other_file() {
    let (network, film) = filmed(HOSTILE, MOST_EVENTS);
    let page = Page::of(&network, &film, "title");
    for reference in ["src=", "href=", "url(", "http:", "https:", "import "] {
        assert!(!page.text.contains(reference), "{reference}");
    }
}

#[test]
fn cut_run_is_announced() {
    let (network, film) = filmed(HOSTILE, 100);
    let extent = Extent::of(&film);
    assert!(extent.omitted > 0);
    let line = extent.to_string();
    let beginning = format!("the first {} packets, until 0.", extent.packets);
    assert!(line.starts_with(&beginning), "{line}");
    assert!(line.ends_with(&format!("; {} later ones are left out", extent.omitted)), "{line}");
    let page = Page::of(&network, &film, "title");
    assert_eq!(page.header["omitted"], extent.omitted);
}

#[test]
fn times_of_long_runs_fit() {
    let clock = Clock { nanos: (1_u64 << 42) / u64::from(NONE) + 1 };
    assert!(clock.ticks(Instant::from_nanos(1 << 42)) < NONE);
    assert_eq!(clock.until(None), NONE);
}

#[test]
fn moving_stations_have_their_way_points() {
    let (network, film) = filmed(MOVING, MOST_EVENTS);
    let page = Page::of(&network, &film, "title");
    assert_eq!(page.header["plane"], true);
    let node = page.header["motions"][0].as_u64().unwrap() as usize;
    assert_eq!(page.header["nodes"][node][0], "phone");
    let at = page.numbers("motions.0.at");
    assert!(at.len() >= 2 && at.is_sorted());
    assert_eq!(u64::from(at[at.len() - 1]), page.header["end"].as_u64().unwrap());
}
