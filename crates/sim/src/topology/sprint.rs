//! The backbone of Sprint (AS1239) as its 52 points of presence and 84 links: the network of many NDN
//! papers, where it is called "Sprint (Rocketfuel)".
//!
//! Source: the Rocketfuel measurements (Spring, Mahajan and Wetherall, "Measuring ISP topologies with
//! Rocketfuel", 2002; Mahajan et al., "Inferring link weights using end-to-end measurements", 2002) in
//! the form that ndnSIM redistributes: which links there are, their one-way delays and weights. Node
//! names are those of Mini-NDN's file of the same graph.
//!
//! Differences: rates and queues are left to the scenario (ndnSIM's reader sets 100 Mbit/s). Positions
//! are those of the cities; each delay is the length of the great circle at 200 km per millisecond.
use super::{ChannelPart, Topology, TopologyLink, TopologyNode};
use crate::network::NodeId;
use recoup_transport::time::Duration;

/// The Sprint network: delays as measured, the inferred weights as costs, labels with the cities.
pub fn sprint() -> Topology {
    let nodes = NODES.iter().map(|(name, city, latitude, longitude)| TopologyNode {
        name: (*name).into(),
        position: Some((*longitude, *latitude)),
        label: Some((*city).into()),
    });
    let links = LINKS.iter().map(|(a, b, delay_micros, weight)| {
        let part = ChannelPart {
            delay: Some(Duration::from_micros(*delay_micros)),
            ..ChannelPart::default()
        };
        TopologyLink {
            name: format!("{}-{}", NODES[*a].0, NODES[*b].0),
            ends: (NodeId(*a as u32), NodeId(*b as u32)),
            forth: part.clone(),
            back: part,
            cost: *weight,
            back_cost: None,
        }
    });
    Topology { nodes: nodes.collect(), links: links.collect(), geographic: true }
}

/// Name, city, latitude and longitude in degrees.
#[rustfmt::skip]
const NODES: [(&str, &str, f64, f64); 52] = [
    ("Reston", "Reston, VA, US", 38.9586, -77.357),
    ("Relay", "Relay, MD, US", 39.234, -76.7108),
    ("Auckland", "Auckland, NZ", -36.8485, 174.7633),
    ("Sydney", "Sydney, AU", -33.8688, 151.2093),
    ("WA", "Washington, DC, US", 38.9072, -77.0369),
    ("Tuckerton", "Tuckerton, NJ, US", 39.6032, -74.3402),
    ("NewYork", "New York, NY, US", 40.7128, -74.006),
    ("Manasquan", "Manasquan, NJ, US", 40.126, -74.0493),
    ("PennSkn", "Pennsauken, NJ, US", 39.9562, -75.0579),
    ("SanJose", "San Jose, CA, US", 37.3382, -121.8863),
    ("Ashburn", "Ashburn, VA, US", 39.0438, -77.4874),
    ("Atlanta", "Atlanta, GA, US", 33.749, -84.388),
    ("Stockholm", "Stockholm, SE", 59.3293, 18.0686),
    ("Copenhagen", "Copenhagen, DK", 55.6761, 12.5683),
    ("Seattle", "Seattle, WA, US", 47.6062, -122.3321),
    ("Tacoma", "Tacoma, WA, US", 47.2529, -122.4443),
    ("KansasCity", "Kansas City, MO, US", 39.0997, -94.5786),
    ("Chicago", "Chicago, IL, US", 41.8781, -87.6298),
    ("Cheyenne", "Cheyenne, WY, US", 41.14, -104.8202),
    ("Tokyo", "Tokyo, JP", 35.6762, 139.6503),
    ("Stockton", "Stockton, CA, US", 37.9577, -121.2908),
    ("PrlHbr", "Pearl Harbor, HI, US", 21.3445, -157.9749),
    ("RC", "Rancho Cordova, CA, US", 38.5891, -121.3027),
    ("Denver", "Denver, CO, US", 39.7392, -104.9903),
    ("Dallas", "Dallas, TX, US", 32.7767, -96.797),
    ("IndPls", "Indianapolis, IN, US", 39.7684, -86.1581),
    ("RchDl", "Roachdale, IN, US", 39.8506, -86.8022),
    ("Boston", "Boston, MA, US", 42.3601, -71.0589),
    ("SprngFld", "Springfield, MA, US", 42.1015, -72.5898),
    ("LeesSmt", "Lee's Summit, MO, US", 38.9108, -94.3822),
    ("PaloAlto", "Palo Alto, CA, US", 37.4419, -122.143),
    ("Anaheim", "Anaheim, CA, US", 33.8366, -117.9143),
    ("London", "London, GB", 51.5074, -0.1278),
    ("Hamburg", "Hamburg, DE", 53.5511, 9.9937),
    ("Hartford", "Hartford, CT, US", 41.7658, -72.6734),
    ("StLouis", "St. Louis, MO, US", 38.627, -90.1994),
    ("ClvLand", "Cleveland, OH, US", 41.4993, -81.6944),
    ("Tucson", "Tucson, AZ, US", 32.2226, -110.9747),
    ("Orlando", "Orlando, FL, US", 28.5383, -81.3792),
    ("Amsterdam", "Amsterdam, NL", 52.3676, 4.9041),
    ("Frankfurt", "Frankfurt, DE", 50.1109, 8.6821),
    ("Singapore", "Singapore, SG", 1.3521, 103.8198),
    ("Brussels", "Brussels, BE", 50.8503, 4.3517),
    ("Miami", "Miami, FL, US", 25.7617, -80.1918),
    ("Dublin", "Dublin, IE", 53.3498, -6.2603),
    ("LA", "Los Angeles, CA, US", 34.0522, -118.2437),
    ("Burbank", "Burbank, CA, US", 34.1808, -118.309),
    ("Phoenix", "Phoenix, AZ, US", 33.4484, -112.074),
    ("Paris", "Paris, FR", 48.8566, 2.3522),
    ("Milan", "Milan, IT", 45.4642, 9.19),
    ("Richardson", "Richardson, TX, US", 32.9483, -96.7299),
    ("HongKong", "Hong Kong, HK", 22.3193, 114.1694),
];

/// The two ends, the one-way delay in microseconds, the weight.
#[rustfmt::skip]
const LINKS: [(usize, usize, u64, u64); 84] = [
    (0, 1, 312, 312),
    (2, 3, 10786, 10786),
    (1, 4, 222, 222),
    (1, 5, 1035, 2500),
    (1, 6, 1414, 4000),
    (1, 7, 1240, 2500),
    (1, 8, 814, 3860),
    (1, 9, 19532, 11769),
    (1, 10, 352, 352),
    (1, 11, 4593, 3500),
    (12, 13, 2622, 2622),
    (14, 15, 207, 500),
    (14, 16, 12098, 14192),
    (14, 17, 13941, 8909),
    (15, 18, 7791, 11747),
    (15, 19, 38946, 44530),
    (20, 21, 19775, 19775),
    (20, 22, 345, 345),
    (23, 24, 5337, 5337),
    (25, 26, 276, 2184),
    (27, 28, 645, 645),
    (8, 20, 19787, 11409),
    (8, 16, 8352, 8282),
    (8, 28, 1578, 3000),
    (8, 24, 10459, 7735),
    (8, 26, 5005, 5500),
    (21, 31, 20741, 20741),
    (13, 32, 4737, 7552),
    (13, 33, 1424, 1500),
    (17, 35, 2091, 2091),
    (17, 20, 14409, 14409),
    (17, 18, 7130, 4337),
    (17, 28, 6214, 4000),
    (17, 24, 6437, 5735),
    (17, 25, 1315, 1315),
    (17, 26, 1176, 2500),
    (17, 29, 3282, 3282),
    (17, 36, 2478, 2478),
    (11, 24, 5751, 5096),
    (11, 38, 3235, 3235),
    (11, 17, 4718, 4360),
    (33, 39, 1817, 2000),
    (33, 40, 2035, 3000),
    (6, 7, 327, 2500),
    (6, 28, 970, 6860),
    (6, 25, 5176, 5176),
    (6, 8, 612, 5860),
    (6, 17, 5725, 3860),
    (6, 34, 802, 802),
    (6, 11, 6007, 5500),
    (39, 42, 699, 699),
    (16, 24, 3655, 1547),
    (16, 29, 135, 3000),
    (16, 17, 3286, 5282),
    (31, 45, 268, 500),
    (31, 46, 268, 268),
    (31, 37, 3375, 3375),
    (31, 47, 2708, 2708),
    (32, 48, 1712, 1712),
    (32, 44, 2329, 2329),
    (32, 42, 1595, 3352),
    (48, 49, 3201, 3201),
    (7, 13, 31130, 30890),
    (38, 43, 1643, 1643),
    (9, 15, 5513, 5500),
    (9, 20, 437, 2500),
    (9, 31, 2648, 4735),
    (9, 30, 124, 124),
    (9, 17, 14774, 13909),
    (9, 19, 42030, 42030),
    (5, 32, 28338, 28338),
    (5, 8, 359, 2360),
    (5, 7, 316, 2000),
    (18, 23, 779, 5735),
    (40, 48, 2340, 2340),
    (40, 49, 2529, 2529),
    (24, 38, 7706, 2860),
    (24, 31, 9827, 9909),
    (24, 45, 10045, 10409),
    (24, 50, 92, 92),
    (3, 9, 59812, 59812),
    (19, 41, 26190, 26190),
    (19, 20, 42057, 39530),
    (19, 51, 14125, 14125),
];
