//! Lines into a switch that several inputs share: a line carries one packet at a time, and its inputs take turns.

/// A step of the switch.
type Step = u64;

/// A line.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// The head of one of its inputs asks for its output.
    asks: bool,
    /// The step in which the last packet has left.
    free_at: Step,
    /// Which of its inputs comes first: the one behind that whose packet left last.
    turn: usize,
}

/// All of them.
#[derive(Clone, Debug)]
pub struct Lines {
    inputs_per_line: usize,
    lines: Vec<Line>,
}

impl Lines {
    /// Lines for so many inputs, if any share one.
    pub fn of(inputs: usize, inputs_per_line: usize) -> Option<Lines> {
        (inputs_per_line > 1).then(|| Lines {
            inputs_per_line,
            lines: vec![Line::default(); inputs.div_ceil(inputs_per_line)],
        })
    }

    /// The head of an input wants to ask for its output in step `now`; `comes` says of which inputs the head could. It takes the line if
    /// that is free and the turn is its own. `Err`: the step in which the line is free again.
    pub fn take(
        &mut self,
        input: usize,
        now: Step,
        comes: impl Fn(usize) -> bool,
    ) -> Result<bool, Step> {
        let share = self.inputs_per_line;
        let line = &mut self.lines[input / share];
        if line.asks {
            return Ok(false);
        }
        if line.free_at > now {
            return Err(line.free_at);
        }
        let first = input - input % share;
        let mut in_turn = (0..share).map(|i| first + (line.turn + i) % share);
        line.asks = in_turn.find(|&other| comes(other)) == Some(input);
        Ok(line.asks)
    }

    /// The packet of an input that has taken its line passes, until step `free_at`.
    pub fn leave(&mut self, input: usize, free_at: Step) {
        let share = self.inputs_per_line;
        self.lines[input / share] = Line {
            asks: false,
            free_at,
            turn: (input + 1) % share,
        };
    }
}
