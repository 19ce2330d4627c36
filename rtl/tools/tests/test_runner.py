"""The runner itself, without a simulator: what it reads, what it refuses, and lists that would rot unseen."""

import json
from pathlib import Path

import pytest

from rtl.sim import soak
from rtl.synth import cells
from rtl.tools import boxes, compose, cover, mutate, page, synth
from rtl.tools.block import RTL, BlockError, closure, declared, expand, load, names
from rtl.tools.check import tasks


def write_block(root: Path, name: str, **spec: object) -> None:
    (root / name / "src").mkdir(parents=True)
    (root / name / "src" / "a.sv").write_text("module a; assign x = y + z; endmodule\n")
    (root / name / "block.json").write_text(json.dumps({"sources": ["src/a.sv"]} | spec))


def test_each_makes_every_combination():
    points = expand({"W": [36, 54], "Kind": [0, 1]}, {"N": 4})
    assert [suffix for suffix, _ in points] == ["_w36_kind0", "_w36_kind1", "_w54_kind0", "_w54_kind1"]
    assert points[1][1] == {"N": "4", "W": "36", "Kind": "1"}


def test_an_unknown_key_is_named(tmp_path):
    write_block(tmp_path, "one", sorces=[])
    with pytest.raises(BlockError, match="unknown key 'sorces'"):
        load("one", tmp_path)


def test_a_missing_file_is_named(tmp_path):
    write_block(tmp_path, "one", waivers=["lint.vlt"])
    with pytest.raises(BlockError, match=r"no file lint\.vlt"):
        load("one", tmp_path)


def test_needs_come_first_and_once(tmp_path):
    write_block(tmp_path, "low")
    write_block(tmp_path, "left", needs=["low"])
    write_block(tmp_path, "right", needs=["low"])
    write_block(tmp_path, "top", needs=["left", "right"])
    assert [b.name for b in closure(load("top", tmp_path), tmp_path)] == ["low", "left", "right", "top"]


def test_a_circle_of_needs_is_refused(tmp_path):
    write_block(tmp_path, "one", needs=["two"])
    write_block(tmp_path, "two", needs=["one"])
    with pytest.raises(BlockError, match="needs itself"):
        closure(load("one", tmp_path), tmp_path)


def test_a_bug_goes_to_the_one_place_that_it_names(tmp_path):
    write_block(tmp_path, "one")
    bug = mutate.Mutation("one", "minus", "src/a.sv", "y + z", "y - z", "test", "")
    bug.apply(tmp_path)
    assert "y - z" in (tmp_path / "one" / "src" / "a.sv").read_text()
    with pytest.raises(BlockError, match="stands 0 times"):
        bug.apply(tmp_path)


@pytest.mark.parametrize("block", names())
def test_every_seeded_bug_still_applies(block):
    tests = {test.name for test in load(block).tests} | mutate.proofs(load(block))
    for bug in mutate.read(block):
        assert (RTL / block / bug.file).read_text().count(bug.old) == 1, bug.id
        assert bug.test in tests, bug.id
        assert bug.why, bug.id


def test_tasks_of_a_proof_are_read(tmp_path):
    file = tmp_path / "a.sby"
    file.write_text("# about\n[tasks]\ndeep  all\nbroken\n\n[options]\nmode bmc\n")
    assert tasks(file) == ["deep", "broken"]


NETLIST = r"""
module \top
  wire width 8 \x
  cell $add $1
    parameter \A_WIDTH 8
    connect \A \x
  end
  cell \rm_modmul_p2 \first.i_modmul
    parameter \W 54
    parameter \Sparse 1'1
    connect \a_i \x
  end
  cell \rm_modmul_p2 \second.i_modmul
    parameter \W 54
    parameter \Sparse 1'1
    connect \a_i \x
  end
  cell \rm_bank_ram \bank
    parameter \Width 432
    parameter \Depth 1024
  end
  cell \rm_modulus_table \moduli
    parameter \W 54
    parameter \Mods 2
  end
end
module \rm_modmul_p2
  parameter \W
  wire width 54 input 2 \a_i
end
"""


def test_boxes_are_counted_and_made_plain():
    text, boxes = compose.strip(NETLIST, (*compose.MULTIPLIERS, *compose.MEMORIES))
    assert boxes == compose.Boxes(multipliers=2, memory_bits=432 * 1024 + 2 * (54 + 56 + 16 * 54))
    assert [line.strip() for line in text.splitlines() if "parameter" in line] == ["parameter \\A_WIDTH 8"]
    assert text.count("connect") == 3


def test_multipliers_of_two_kinds_are_refused():
    mixed = NETLIST.replace("parameter \\W 54", "parameter \\W 36", 1)
    with pytest.raises(ValueError, match="different kinds"):
        compose.strip(mixed, compose.MULTIPLIERS)


BOXED = """\
attribute \\src "x"
module \\rm_limb
  parameter \\W
  wire width 8 input 1 \\a
end
attribute \\top 1
module \\rm_engine
  wire \\x
  attribute \\src "y"
  cell \\rm_limb \\first
    parameter \\W 60
    parameter \\Half 30
    connect \\a \\x
  end
  cell \\rm_limb \\second
    parameter \\W 48
    parameter \\Half 24
    connect \\a \\x
  end
  cell \\rm_limb \\third
    parameter \\W 48
    parameter \\Half 24
    connect \\a \\x
  end
  cell $add \\sum
    parameter \\A_WIDTH 8
  end
end
"""


def test_boxes_of_several_shapes_have_names_of_their_own():
    text, found = boxes.strip(BOXED, {"rm_limb": ["W"]})
    assert found == [boxes.Box("rm_limb", (("W", 60),), 1), boxes.Box("rm_limb", (("W", 48),), 2)]
    assert [line.split()[1:] for line in text.splitlines() if "cell" in line] == [
        ["\\rm_limb__0", "\\first"],
        ["\\rm_limb__1", "\\second"],
        ["\\rm_limb__1", "\\third"],
        ["$add", "\\sum"],
    ]
    assert "module \\rm_limb" not in text
    assert [line.strip() for line in text.splitlines() if "parameter" in line] == ["parameter \\A_WIDTH 8"]
    assert text.count("attribute") == 2


def test_declared_parameters_are_those_of_the_head():
    text = """module m #(
  parameter int unsigned W = 54,
  parameter bit Extra = 1'b0,  // a comment = here
  localparam int unsigned P = 1 << W
) (input logic a);
endmodule
"""
    assert boxes.declared(text) == ["W", "Extra"]


def test_shares_add_up_through_boxes_of_boxes(monkeypatch):
    counts = {"srl": 0, "lutram": 0, "ff": 2, "bram36": 0.5}

    def row(top, lut, dsp, params, inside=()):
        found = {"top": top, "flow": "xcup", "params": params, "lut": lut, "dsp": dsp, "sources": "now"}
        return (
            found
            | counts
            | {"boxes": [dict(zip(("top", "params", "count"), box, strict=True)) for box in inside]}
        )

    multiplier = {"Kind": 245, "W": 48, "Tile": 3, "T": 15}
    rows = [
        row("engine", 10, 0, {"N": 1}, [("limb", {"W": 48, "Wide": 1}, 3)]),
        row("limb", 5, 0, {"W": 48}, [("rm_modmul_ntt", multiplier, 2)]),
        row("rm_modmul", 100, 6, {"Kind": 245, "W": 48, "Tile": 3}),
    ]
    monkeypatch.setattr(synth, "_rows", lambda block: rows if block == "modmul" else [])
    monkeypatch.setattr(synth, "digest", lambda block: "now")
    total = synth.added("engine", {"N": 1, "M": 2})
    assert (total["lut"], total["dsp"], total["ff"], total["bram36"]) == (
        10 + 3 * (5 + 200),
        36,
        2 + 3 * 6,
        5.0,
    )
    assert [(share["top"], share["count"]) for share in synth.shares("engine", {"N": 1})] == [
        ("engine", 1),
        ("limb", 3),
    ]
    # A row of older sources stands in where there is no other, and only there.
    rows[2]["sources"] = "older"
    assert synth.added("engine", {"N": 1})["lut"] == total["lut"]
    rows.append(row("rm_modmul", 90, 6, {"Kind": 245, "W": 48}))
    assert synth.added("engine", {"N": 1})["lut"] == total["lut"] - 6 * 10
    del rows[2:]
    with pytest.raises(LookupError, match="rm_modmul"):
        synth.added("engine", {"N": 1})


def test_parts_add_up():
    rest = {
        "lut": 100,
        "srl": 1,
        "lutram": 2,
        "ff": 50,
        "dsp": 0,
        "bram36": 1.5,
        "overall": 0.0,
        "path_ns": 3.0,
    }
    one = {
        "lut": 10,
        "srl": 0,
        "lutram": 0,
        "ff": 5,
        "dsp": 6,
        "bram36": 0.0,
        "overall": 615.7,
        "path_ns": 4.0,
    }
    whole = compose.add(rest | {"status": "s"}, one | {"status": "s"}, compose.Boxes(3, 0))
    assert (whole["lut"], whole["ff"], whole["dsp"], whole["path_ns"]) == (130, 65, 18, 4.0)
    assert whole["overall"] == cells.overall(133, 65, 18, 1.5)
    assert whole["parts"]["multipliers"] == 3
    assert "apart" in whole["status"]


def test_a_multiplier_that_was_routed_too_can_be_added():
    rest = {"lut": 100, "ff": 50, "status": "s"}
    routed = {"lut": 10, "ff": 5, "status": "r", "fmax_mhz": 84.4, "comb": 12, "seeds": {"1": 84.4}}
    whole = compose.add(rest, routed, compose.Boxes(2, 0))
    assert (whole["lut"], whole["ff"]) == (120, 60)
    assert "fmax_mhz" not in whole
    assert whole["parts"]["each"] == {"lut": 10, "ff": 5}


@pytest.mark.parametrize("file", sorted(synth.DATA.glob("*.json")), ids=lambda file: file.stem)
def test_every_row_says_what_it_is(file):
    for row in json.loads(file.read_text()):
        assert row["status"], row
        assert row["tools"]["yosys"], row
        if row["flow"] in ("xc7", "xcup"):
            luts = row["lut"] + row["srl"] + row["lutram"]
            assert row["overall"] == synth.overall(luts, row["ff"], row["dsp"], row["bram36"])


def test_a_row_outlives_another_of_its_point_only_while_the_sources_are_the_same():
    whole = {"top": "a", "flow": "xc7", "params": {"W": 54}, "sources": "new"}
    sum_of_parts = whole | {"parts": {}}
    older = {**sum_of_parts, "sources": "old"}
    elsewhere = {**older, "flow": "ecp5"}
    assert synth._beside(whole, [sum_of_parts, elsewhere]) == [sum_of_parts, elsewhere]
    assert synth._beside(whole, [older, elsewhere]) == [elsewhere]
    assert synth._beside(whole, [whole]) == []
    routed = {**whole, "sources": "old", "seeds": {"1": 60.8}}
    assert synth._beside(whole, [routed]) == [routed]
    assert synth._beside(whole | {"seeds": {"2": 61.0}}, [routed]) == []


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("module a;\n  // of another\n  wire b; /* two\n lines */\nendmodule\n", True),
        ("module a;\n  wire c;\nendmodule\n", False),
        ('module a;\n  wire b;\n  initial $error("a // b");\nendmodule\n', False),
    ],
)
def test_a_digest_is_of_the_code_and_not_of_its_comments(other, same):
    source = "module a;\n  wire b;  // one\nendmodule\n"
    assert (synth.code(source) == synth.code(other)) is same


def test_a_string_is_no_comment():
    assert synth.code('$error("a // b  c") ;') == '$error("a // b  c") ;'


def test_area_is_casas_formula():
    assert synth.overall(16, 8, 1, 0.5) == 132.4


def test_the_page_distinguishes_routed_composed_and_failed(tmp_path):
    params = {"W": 36, "KIND": 1, "D": 64, "NBF": 1, "LOGN_MAX": 12, "TILE": 1}
    routed = {"top": "rm_compact_core", "flow": "ecp5", "params": params}
    routed |= {"lut": 9, "ff": 8, "dsp": 7, "ebr": 6}
    routed |= {"comb": 10, "fmax_mhz": 51.25, "seeds": {"1": 51.25, "2": None}}
    plain = {"lut": 160, "srl": 0, "lutram": 0, "ff": 80, "dsp": 0, "bram36": 1.0, "overall": 76.0}
    parts = {"multipliers": 2, "each": {"overall": 19.0}, "rest": {}}
    core = {"top": "rm_compact_core", "flow": "xcup", "params": params, "parts": parts} | plain
    (tmp_path / "core.json").write_text(json.dumps([routed, core]))
    text = page.text(tmp_path)
    assert "| 51.2 | 51.2, not routed |" in text
    assert "| 76 | 2, 50% † |" in text
    (tmp_path / "core.json").write_text(json.dumps([core | {"sources": synth.digest("core")}]))
    assert "| 76 | 2, 50% |" in page.text(tmp_path)
    assert "45 nm cells\n\n|" not in text


def test_the_page_reports_where_the_area_of_a_core_goes(tmp_path):
    def row(top: str, overall: float, **params: int) -> dict[str, object]:
        figures = {"lut": 0, "srl": 0, "lutram": 0, "ff": 0, "dsp": 0, "bram36": 0.0, "overall": overall}
        return {"top": top, "flow": "xc7", "params": params} | figures

    shape = {"W": 54, "Nbf": 4, "LogNMax": 13}
    core = row("rm_compact_core", 1000.0, W=54, KIND=1, D=512, NBF=4, LOGN_MAX=13, TILE=2)
    core |= {"parts": {"multipliers": 5, "each": {"overall": 80.0}, "rest": {}}}
    unit = row("rm_ntt_unit", 400.0, Kind=1, Tile=0, **shape) | {"parts": {"rest": {"overall": 100.0}}}
    blocks = {
        "core": [core],
        "ntt": [row("rm_ntt_unit", 400.0, Kind=1, Tile=0, **shape), unit],
        "arith": [row("rm_arith_unit", 150.0, Kind=1, **shape)],
        "bank": [row("rm_bank_array", 50.0, **shape)],
        "memory": [row("rm_mem_system", 70.0, W=54, NBF=4, D=512)],
    }
    for name, rows in blocks.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    assert "| 1,000 | 40% | 20% | 15% | 5% | 7% | 13% |" in page.text(tmp_path)
    (tmp_path / "bank.json").write_text("[]")
    assert "Where the area" not in page.text(tmp_path)


def plan_of(root: Path, *points: dict[str, object]) -> None:
    write_block(
        root,
        "one",
        tests=[{"name": "a", "top": "a", "harness": []}, {"name": "b", "top": "a", "harness": []}],
    )
    (root / "one" / "test").mkdir()
    (root / "one" / "test" / "plan.json").write_text(json.dumps(points))


def test_a_plan_is_every_combination_but_what_it_leaves_out(tmp_path):
    of = [{"operation": ["add", "ntt"]}, {"bank": [0, 1]}, {"place": ["x", "y"]}]
    plan_of(tmp_path, {"point": "p", "of": of, "not": [["ntt", 1], ["*", 0, "y"]], "why": "", "tests": ["a"]})
    (point,) = cover.plan("one", tmp_path)
    assert point.bins == ("p/add/0/x", "p/add/1/x", "p/add/1/y", "p/ntt/0/x")


def test_what_nothing_reached_is_named_once_all_tests_of_a_point_ran(tmp_path, capsys):
    of = [{"operation": ["add", "sub", "ntt"]}]
    plan_of(tmp_path, {"point": "p", "of": of, "why": "", "tests": ["a", "b"]})
    said = cover.parsed(["COVER p/add 3", "PASS x", "COVER p/add 2"])
    assert said == {"p/add": 5}
    assert cover.holes("one", {"a": said}, tmp_path) == []
    assert cover.holes("one", {"a": said, "b": cover.parsed(["COVER p/ntt 1"])}, tmp_path) == ["p/sub"]
    assert "cover one/p: 2 of 3; not reached: p/sub" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [({"tests": ["c"]}, "no test c"), ({"not": [["mul"]]}, "nothing is left out by")],
)
def test_a_plan_that_names_nothing_is_refused(tmp_path, change, said):
    plan_of(tmp_path, {"point": "p", "of": [{"operation": ["add"]}], "why": "", "tests": ["a"]} | change)
    with pytest.raises(BlockError, match=said):
        cover.plan("one", tmp_path)


def test_plans_of_all_blocks_can_be_read():
    assert "core" in [name for name in names() if cover.plan(name)]


def test_a_campaign_draws_the_same_cores_again_and_reads_its_log(tmp_path):
    cores = [soak.drawn(7, case) for case in range(300)]
    assert (
        cores == [soak.drawn(7, case) for case in range(300)] != [soak.drawn(8, case) for case in range(300)]
    )
    for parameter in declared():
        if parameter.get("simulated") and "values" in parameter and parameter["rtl"] != "KIND":
            assert {getattr(core, parameter["rtl"]) for core, _ in cores} == set(parameter["values"])
    assert len({seed for _, seed in cores}) == 300
    log = tmp_path / "log.jsonl"
    assert soak.read(log) == []
    log.write_text('{"case": 0, "ok": true}\n{"case": 1, "o')
    assert soak.read(log) == [{"case": 0, "ok": True}]
