//! The scheme for one column, in double precision: what the kernel computes, process by process.

use super::air::{
    Air, DROPS, EPS, FREEZING, FUSION, GAS, HEAT, Level, SUBLIMATION, VAPORISATION, flakes,
    over_ice, over_water, rain_slope, snow_slope,
};
use std::f64::consts::PI;

/// A rate of exchange with vapour: no more than half of the excess, and no more than there is.
fn exchange(rate: f64, have: f64, excess: f64, dt: f64) -> f64 {
    if rate < 0.0 {
        rate.max(-have / dt).max(excess / dt * 0.5)
    } else {
        rate.min(excess / dt * 0.5)
    }
}

/// Scales rates so that what they take is not more than there is.
fn limit<const N: usize>(have: f64, loss: f64, rates: [&mut f64; N]) {
    let have = have.max(EPS);
    if loss > have {
        for rate in rates {
            *rate *= have / loss;
        }
    }
}

fn melt_and_freeze(l: &mut Level, air: &Air, dt: f64) {
    let cold = FREEZING - l.temperature;
    let number = flakes(cold);
    let mut pass = |from: &mut f64, to: &mut f64, amount: f64, warms: f64| {
        *from -= amount;
        *to += amount;
        l.temperature += warms * FUSION / HEAT * amount;
    };
    if cold < 0.0 {
        if l.snow > EPS {
            let size = snow_slope(l.snow, l.density, number);
            let area = size * size;
            let wind = area * size.powf(1.41).sqrt();
            let melt = 1414.0 * air.viscosity * l.density / FUSION
                * -cold
                * 0.5
                * PI
                * number
                * (1.04 * area + 2.1 * air.ventilation * wind)
                * dt
                / l.density;
            let melt = melt.min(l.snow);
            pass(&mut l.snow, &mut l.rain, melt, -1.0);
        }
        if l.ice > EPS {
            let melt = l.ice.min(0.05 * -cold * l.ice);
            pass(&mut l.ice, &mut l.cloud, melt, -1.0);
        }
    } else {
        // Drops are as large as before any of this.
        let size = rain_slope(l.rain, l.density);
        if l.cloud > EPS {
            let share = if cold > 40.0 {
                (0.2 * (cold - 40.0) + 0.01).min(1.0)
            } else {
                (1e-5 * ((0.66 * cold).exp() - 1.0)).min(0.01)
            };
            let freeze = l.cloud * share;
            pass(&mut l.cloud, &mut l.ice, freeze, 1.0);
        }
        if l.rain > EPS {
            let freeze = 20.0 * PI * PI * 100.0 * DROPS * 1000.0 / l.density
                * ((0.66 * cold.min(70.0)).exp() - 1.0)
                * size.powi(7)
                * dt;
            let freeze = freeze.min(l.rain);
            pass(&mut l.rain, &mut l.snow, freeze, 1.0);
        }
    }
}

/// One time step of a level, but for what falls.
fn step(l: &mut Level, dt: f64) {
    let air = Air::at(l);
    melt_and_freeze(l, &air, dt);
    let (t, p, density) = (l.temperature, l.pressure, l.density);
    let cold = FREEZING - t;
    let number = flakes(cold);
    let rain_size = rain_slope(l.rain, density);
    let snow_size = snow_slope(l.snow, density, number);
    let water = over_water(t, p);
    let (rain_area, snow_area) = (rain_size * rain_size, snow_size * snow_size);
    let (rain_pull, snow_pull) = (rain_size.powf(0.8), snow_size.powf(0.41));
    let excess = l.vapour - water;
    let cloud_rate = l.cloud / dt;
    let [has_cloud, has_rain, has_ice, has_snow] =
        [l.cloud, l.rain, l.ice, l.snow].map(|water| water > EPS);

    let [mut grow, mut collect, mut evaporate, mut riming] = [0.0f64; 4];
    if l.cloud > 5e-4 {
        grow = (0.001 * (l.cloud - 5e-4) * (l.cloud * 1000.0).powf(1.3333)).min(cloud_rate);
    }
    if has_rain && has_cloud {
        collect =
            (2.48e10 * rain_area * rain_size * rain_pull * air.thin * l.cloud).min(cloud_rate);
    }
    let snow_wind = snow_area * (snow_size * snow_pull).sqrt();
    let snow_exchange = number * 4.0 * (0.65 * snow_area + 1.5 * air.ventilation * snow_wind);
    if has_rain {
        let ab = air.resistance(VAPORISATION, t, density, water);
        let wind = rain_area * (rain_size * rain_pull).sqrt();
        let rate = (l.vapour / water - 1.0)
            * DROPS
            * 2.0
            * PI
            * (0.78 * rain_area + 16.4 * air.ventilation * wind)
            / ab;
        evaporate = exchange(rate, l.rain, excess, dt);
    }
    if has_snow && has_cloud {
        let swept = snow_area * snow_size * snow_pull * air.thin * l.cloud;
        riming = (0.785 * number * 11.72 * 2.54 * swept).min(cloud_rate);
    }

    if cold > 0.0 {
        let frozen = over_ice(t, p);
        let over = l.vapour - frozen;
        let ab = air.resistance(SUBLIMATION, t, density, frozen);
        let [
            mut deposit,
            mut sweep,
            mut aggregate,
            mut grow_snow,
            mut nucleate,
        ] = [0.0f64; 5];
        if has_ice {
            let crystals = (5.38e7 * (density * l.ice).powf(0.75)).clamp(1e3, 1e6);
            let diameter = (11.9 * (density * l.ice / crystals).sqrt()).min(5e-4);
            let rate = 4.0 * diameter * crystals * (l.vapour / frozen - 1.0) / ab;
            deposit = exchange(rate, l.ice, over, dt);
            if has_snow {
                let size = 2.0 * snow_area * snow_size
                    + 2.0 * diameter * snow_area
                    + diameter * diameter * snow_size;
                let swept = PI * l.ice * (-0.07 * cold).exp() * 0.5 * number * size * density;
                sweep = swept.min(l.ice / dt);
            }
            let spare = l.ice - 8e-5 / density;
            if spare > 0.0 {
                aggregate = (spare / dt).min(0.001 * spare * (-0.025 * cold).exp());
            }
        }
        if has_snow {
            let rate = (l.vapour / frozen - 1.0) * snow_exchange / ab;
            grow_snow = exchange(rate, l.snow, over, dt);
        }
        if over > 0.0 {
            let crystals = 1e3 * (0.1 * cold.min(60.0)).exp();
            let mass = 4.92e-11 * crystals.powf(1.33) / density;
            let wanted = (mass - l.ice).max(0.0) / dt;
            nucleate = wanted.min(over / dt).min(1e-6 * cold);
        }
        let lost = (grow + collect + riming) * dt;
        limit(l.cloud, lost, [&mut grow, &mut collect, &mut riming]);
        let lost = (aggregate + sweep - nucleate - deposit) * dt;
        let rates = [&mut aggregate, &mut sweep, &mut nucleate, &mut deposit];
        limit(l.ice, lost, rates);
        let lost = (-grow - collect - evaporate) * dt;
        limit(l.rain, lost, [&mut grow, &mut collect, &mut evaporate]);
        let lost = -(aggregate + sweep + riming + grow_snow) * dt;
        let rates = [&mut aggregate, &mut sweep, &mut riming, &mut grow_snow];
        limit(l.snow, lost, rates);
        l.vapour = (l.vapour - (evaporate + grow_snow + nucleate + deposit) * dt).max(0.0);
        l.cloud = (l.cloud - (grow + collect + riming) * dt).max(0.0);
        l.rain = (l.rain + (grow + collect + evaporate) * dt).max(0.0);
        l.ice = (l.ice - (aggregate + sweep - nucleate - deposit) * dt).max(0.0);
        l.snow = (l.snow + (grow_snow + aggregate + sweep + riming) * dt).max(0.0);
        let heat = SUBLIMATION * (grow_snow + deposit + nucleate)
            + VAPORISATION * evaporate
            + FUSION * riming;
        l.temperature += heat / HEAT * dt;
    } else {
        let [mut melt, mut dry] = [0.0f64; 2];
        if has_snow {
            melt = (4190.0 / FUSION * -cold * riming).min(l.snow / dt);
            if excess < 0.0 {
                let ab = air.resistance(VAPORISATION, t, density, water);
                let rate = (l.vapour / water - 1.0) * snow_exchange / ab;
                dry = rate.max(-l.snow / dt).max(excess / dt * 0.5);
            }
        }
        let lost = (grow + collect + riming) * dt;
        limit(l.cloud, lost, [&mut grow, &mut collect, &mut riming]);
        limit(l.snow, (melt - dry) * dt, [&mut melt, &mut dry]);
        let lost = (-grow - collect - riming - evaporate - melt) * dt;
        let rates = [
            &mut grow,
            &mut collect,
            &mut riming,
            &mut evaporate,
            &mut melt,
        ];
        limit(l.rain, lost, rates);
        l.vapour = (l.vapour - (evaporate + dry) * dt).max(0.0);
        l.cloud = (l.cloud - (grow + collect + riming) * dt).max(0.0);
        l.rain = (l.rain + (grow + collect + riming + evaporate + melt) * dt).max(0.0);
        l.snow = (l.snow - (melt - dry) * dt).max(0.0);
        l.temperature += (VAPORISATION * (evaporate + dry) - FUSION * melt) / HEAT * dt;
    }
}

/// Condensation of what exceeds saturation, evaporation of cloud below it.
fn adjust(l: &mut Level) {
    let water = over_water(l.temperature, l.pressure);
    let per_kelvin = VAPORISATION * VAPORISATION / (GAS * HEAT) * water / l.temperature.powi(2);
    let condense = (l.vapour - water) / (1.0 + per_kelvin);
    let condense = if condense < 0.0 {
        condense.max(-l.cloud)
    } else {
        condense.min(l.vapour)
    };
    l.temperature += VAPORISATION / HEAT * condense;
    l.vapour -= condense;
    l.cloud += condense;
}

/// What falls out of a level in a sub-step, from the amount, the speed and the part of a level that
/// a metre per second is.
fn falls(water: f64, density: f64, speed: f64, part: f64) -> f64 {
    if water > EPS {
        (density * water * speed * part).min(density * water)
    } else {
        0.0
    }
}

/// One time step of a column, its lowest level first; gives what reaches the ground.
pub(super) fn column(levels: &mut [Level], dz: f64, dt: f64) -> f64 {
    let heaviest = levels.iter().map(|l| l.rain).fold(0.0, f64::max);
    let steps = match heaviest {
        h if h > f64::from(2e-3f32) => 8,
        h if h > f64::from(5e-4f32) => 4,
        h if h > f64::from(1e-4f32) => 2,
        _ => 1,
    };
    let mut speeds = Vec::with_capacity(levels.len());
    for l in levels.iter_mut() {
        step(l, dt);
        let cold = FREEZING - l.temperature;
        adjust(l);
        let thin = (1.28 / l.density).sqrt();
        let rain = 2500.0 * rain_slope(l.rain, l.density).powf(0.8) * thin;
        let snow = 20.1 * snow_slope(l.snow, l.density, flakes(cold)).powf(0.41) * thin;
        // What falls into a level without any stays there for this step.
        let fast = |water: f64, speed: f64| if water > EPS { speed } else { 0.0 };
        speeds.push((fast(l.rain, rain), fast(l.snow, snow)));
    }
    let part = dt / f64::from(steps) / dz;
    let mut ground = 0.0;
    for _ in 0..steps {
        let (mut rain_above, mut snow_above) = (0.0, 0.0);
        for (l, (rain_speed, snow_speed)) in levels.iter_mut().zip(&speeds).rev() {
            let rain = falls(l.rain, l.density, *rain_speed, part);
            l.rain += (rain_above - rain) / l.density;
            rain_above = rain;
            let snow = falls(l.snow, l.density, *snow_speed, part);
            l.snow += (snow_above - snow) / l.density;
            snow_above = snow;
        }
        ground += (rain_above + snow_above) * dz;
    }
    ground
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn water_is_neither_made_nor_lost() {
        for t in [225.0, 250.0, 270.0, 276.0, 290.0] {
            let level = Level {
                temperature: t,
                vapour: 0.9 * over_water(t, 7e4),
                cloud: 1e-3,
                rain: 5e-4,
                ice: 2e-4,
                snow: 3e-4,
                pressure: 7e4,
                density: 0.9,
            };
            let total = |l: &Level| l.vapour + l.cloud + l.rain + l.ice + l.snow;
            let mut levels = vec![level; 4];
            let before: f64 = levels.iter().map(|l| total(l) * l.density * 500.0).sum();
            let ground = column(&mut levels, 500.0, 60.0);
            let after: f64 = levels.iter().map(|l| total(l) * l.density * 500.0).sum();
            assert!(ground > 0.0);
            assert!((after + ground - before).abs() < 1e-9 * before, "{t}");
        }
    }

    #[test]
    fn saturation_is_as_in_tables() {
        // 6.1 hPa at freezing, 23.4 hPa at 20 degrees.
        assert!((over_water(273.16, 1e5) - 0.622 * 610.78 / (1e5 - 610.78)).abs() < 1e-12);
        assert!((over_water(293.16, 1e5) - 0.622 * 2337.0 / (1e5 - 2337.0)).abs() < 1e-4);
        assert!(over_ice(253.0, 1e5) < over_water(253.0, 1e5));
    }
}
