//! The controller against numbers recorded from the robot's, firmware 5.1.0; see data/README.md.

mod joints;
mod table;
mod twist;
