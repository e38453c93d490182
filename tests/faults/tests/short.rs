//! A few cases of each number that can be made quickly.

use faults::{Extent, Selection};

#[tokio::test(flavor = "multi_thread")]
async fn a_few_faults_of_each_kind_do_no_harm() {
    let selection = Selection { numbers: Vec::new(), extent: Extent::Short, seed: 1 };
    let is_right = faults::run(&selection, env!("CARGO_BIN_EXE_faults").into()).await.unwrap();
    assert!(is_right, "the lines above say what is wrong");
}
