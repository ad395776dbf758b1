//! Scenario files, with settings in lines that begin with `#=`: any text is a scenario or an error, its normal form is an
//! equal scenario, and each of its networks is made or rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recoup_lab::scenario::ScenarioFile;

/// The content of every file that a scenario names.
const FILE: &str = "[nodes]\na: _ router=/a\nb: _ router=/b\n[links]\na:b delay=10ms bw=10\n";

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let settings = text.lines().filter_map(|line| line.strip_prefix("#=").map(String::from));
    let settings: Vec<String> = settings.take(4).collect();
    let Ok(file) = ScenarioFile::parse(text, &settings) else {
        return;
    };
    let normal = file.to_toml();
    match ScenarioFile::parse(&normal, &[]) {
        Ok(again) => {
            assert_eq!(again.to_toml(), normal, "the normal form differs from its own normal form")
        }
        Err(problems) => panic!("the normal form cannot be read: {problems:?}\n{normal}"),
    }
    for point in file.points().take(3) {
        let Ok(scenario) = file.scenario(&point, &|_| Ok(FILE.into())) else {
            continue;
        };
        assert!(!scenario.identity().is_empty());
        if let Ok(network) = scenario.network(1) {
            let _ = (scenario.warnings(&network), scenario.capture(&network));
        }
    }
});
