//! Pictures as pixels, for papers, slides and viewers without SVG: drawn from the SVG, so that both are the same.
use crate::error::{Exit, Failure};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Pixels of the picture for each of the SVG, so that words stay sharp on paper.
const SCALE: f32 = 2.0;
/// Fonts for `sans-serif`, in order of preference.
const FONTS: [&str; 6] =
    ["DejaVu Sans", "Noto Sans", "Liberation Sans", "Arial", "Helvetica", "Verdana"];

/// Draws pictures, with the fonts of this system.
pub(super) struct Painter {
    options: Options<'static>,
}

impl Painter {
    /// A painter; `None` if the system has no fonts, since pictures would have no words.
    pub(super) fn new() -> Option<Self> {
        let mut options = Options::default();
        let fonts = options.fontdb_mut();
        fonts.load_system_fonts();
        let family =
            |name: &&str| fonts.faces().any(|face| face.families.iter().any(|it| it.0 == *name));
        let known = FONTS.iter().find(|name| family(name)).map(|name| (*name).to_owned());
        let any = || fonts.faces().find_map(|face| Some(face.families.first()?.0.clone()));
        let name = known.or_else(any)?;
        fonts.set_sans_serif_family(name);
        Some(Self { options })
    }

    /// The picture that an SVG describes, as a PNG file.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub(super) fn paint(&self, svg: &str) -> Result<Vec<u8>, Failure> {
        let failed = |what: String| Failure::new(Exit::Other, format!("cannot draw a PNG: {what}"));
        let tree = Tree::from_str(svg, &self.options).map_err(|error| failed(error.to_string()))?;
        let size = tree.size().to_int_size();
        let pixels = |length: u32| (length as f32 * SCALE) as u32;
        let mut picture = Pixmap::new(pixels(size.width()), pixels(size.height()))
            .ok_or_else(|| failed("it has no size".into()))?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
        picture.encode_png().map_err(|error| failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::picture;
    use super::*;

    #[test]
    fn picture_has_colours_and_text_with_fonts() {
        let Some(painter) = Painter::new() else { return };
        let figure = picture::tests::example();
        let png = painter.paint(&picture::draw(&figure).unwrap()).unwrap();
        assert_eq!(png.get(1..4), Some(&b"PNG"[..]));
        let picture = Pixmap::decode_png(&png).unwrap();
        assert_eq!((picture.width(), picture.height()), (2000, 960));
        let ink = |x: u32, y: u32| picture.pixel(x, y).is_some_and(|it| it.red() < 128);
        // The title is in the middle of the uppermost part, where nothing else is.
        assert!((0..60).any(|y| (700..1300).any(|x| ink(x, y))));
        assert!(painter.paint("<svg").is_err());
    }
}
