//! The air at a level and the water in it: saturation, sizes of drops and flakes, diffusion.

use std::f64::consts::PI;

/// Less than this counts as nothing.
pub(super) const EPS: f64 = 1e-9;
/// In kelvin.
pub(super) const FREEZING: f64 = 273.16;
/// Of air at constant pressure.
pub(super) const HEAT: f64 = 1004.6;
/// Latent heats.
pub(super) const VAPORISATION: f64 = 2.5e6;
pub(super) const SUBLIMATION: f64 = 2.85e6;
pub(super) const FUSION: f64 = 3.5e5;
/// Gas constant of vapour.
pub(super) const GAS: f64 = 461.6;
/// Intercept of the sizes of drops.
pub(super) const DROPS: f64 = 8e6;

/// A level of a column. Water in kilograms per kilogram of air.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Level {
    pub(super) temperature: f64,
    pub(super) vapour: f64,
    pub(super) cloud: f64,
    pub(super) rain: f64,
    pub(super) ice: f64,
    pub(super) snow: f64,
    pub(super) pressure: f64,
    pub(super) density: f64,
}

impl Level {
    /// As the kernel gets it.
    pub(super) fn in_single_precision(self) -> Level {
        let round = |v: f64| f64::from(v as f32);
        Level {
            temperature: round(self.temperature),
            vapour: round(self.vapour),
            cloud: round(self.cloud),
            rain: round(self.rain),
            ice: round(self.ice),
            snow: round(self.snow),
            pressure: round(self.pressure),
            density: round(self.density),
        }
    }
}

fn saturated(t: f64, p: f64, (a, b): (f64, f64)) -> f64 {
    let e = 610.78 * (a * (t - FREEZING) / (t - b)).exp();
    0.622 * e / (p - e)
}

pub(super) fn over_water(t: f64, p: f64) -> f64 {
    saturated(t, p, (17.269, 35.86))
}

pub(super) fn over_ice(t: f64, p: f64) -> f64 {
    saturated(t, p, (21.875, 7.66))
}

pub(super) fn flakes(cold: f64) -> f64 {
    (2e6 * (0.12 * cold.max(0.0)).exp()).min(1e11)
}

fn slope(water: f64, density: f64, (heavy, number): (f64, f64), least: f64) -> f64 {
    if water <= EPS {
        return least;
    }
    (density * water / (PI * heavy * number))
        .powf(0.25)
        .max(least)
}

pub(super) fn rain_slope(rain: f64, density: f64) -> f64 {
    slope(rain, density, (1000.0, DROPS), 1.25e-5)
}

pub(super) fn snow_slope(snow: f64, density: f64, number: f64) -> f64 {
    slope(snow, density, (100.0, number), 1e-5)
}

/// What the air at a level is like.
pub(super) struct Air {
    pub(super) viscosity: f64,
    pub(super) diffusion: f64,
    pub(super) ventilation: f64,
    /// Square root of how thin it is.
    pub(super) thin: f64,
}

impl Air {
    pub(super) fn at(l: &Level) -> Air {
        let t = l.temperature;
        let thin = (1.28 / l.density).sqrt();
        let viscosity = 1.496e-6 * (t * t.sqrt()) / (t + 120.0) / l.density;
        let diffusion = 8.794e-5 * t.powf(1.81) / l.pressure;
        let ventilation = (viscosity / diffusion).powf(0.333_333_3) / viscosity.sqrt();
        Air {
            viscosity,
            diffusion,
            ventilation: ventilation * thin.sqrt(),
            thin,
        }
    }

    pub(super) fn resistance(&self, heat: f64, t: f64, density: f64, saturated: f64) -> f64 {
        let conductivity = 1414.0 * self.viscosity * density;
        density * heat * heat / (conductivity * GAS * t * t) + 1.0 / (saturated * self.diffusion)
    }
}
