// Timetables of a pool and the cycles that follow from them: by the rules of README.md, nothing of the design.
#pragma once
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>

#include "../../inplace_ntt/test/inplace.h"
#include "pool_oracle.h"

enum TaskKind : unsigned { kTake, kBack, kUp, kRest, kDown };
constexpr unsigned kMods = P_Limbs + P_Special, kTags = 8;

struct Row {
  unsigned kind, unit, mod, part, age;
  unsigned packed() const { return kind << 17 | unit << 12 | mod << 7 | part << 3 | age; }
  bool back() const { return kind == kBack || kind == kRest; }
};

// From the start of a task on, cycles of its first row.
struct PoolTiming {
  u64 rows, leaves;
  explicit PoolTiming(unsigned log_n) : rows(rows_of(log_n)), leaves(2 * kM + to_last_pass(log_n, false) + kRowLatency) {}
  static constexpr u64 steps() { return P_Alpha > 3 ? 3 : P_Alpha > 1 ? 2 : 1; }
  static constexpr u64 entry() { return kM - 1 - steps(); }  // asked for at the source
  u64 key() const { return leaves; }
  u64 addend() const { return leaves + 3 + kM; }
  u64 result() const { return leaves + 6 + kM; }
  u64 full() const { return leaves + 1; }           // of what goes into a slot: may be read by a task from then on
  u64 written() const { return leaves + 7 + kM; }   // of finished sums
};

// Tasks of one key switch, each after those it is made of.
inline std::vector<Row> tasks_of(const Set& set) {
  std::vector<Row> all;
  for (unsigned i = 0; i < set.level; i++) all.push_back({kBack, 0, i, set.digit_of(i), 0});
  for (unsigned j = 0; j < set.digits(); j++) {
    for (unsigned m = 0; m < kMods; m++) {
      const bool limb = m < P_Limbs;
      if (limb ? m < set.level && set.digit_of(m) != j : m - P_Limbs < set.special) all.push_back({kUp, 0, m, j, 0});
    }
  }
  for (unsigned c = 0; c < 2; c++) {
    for (unsigned k = 0; k < set.special; k++) all.push_back({kRest, 0, P_Limbs + k, c, 0});
  }
  for (unsigned c = 0; c < 2; c++) {
    for (unsigned i = 0; i < set.level; i++) all.push_back({kDown, 0, i, c, 0});
  }
  return all;
}

// Whether limbs of sums are free for whatever takes them, when key switches follow each other `apart`: two for sums that begin, and
// two beside them for the last product modulo a special prime. What begins at the same time as others comes first.
inline bool limbs_suffice(const std::vector<Row>& tasks, const std::vector<u64>& at, u64 apart) {
  std::map<u64, std::array<int, 2>> change;  // by time: taken, freed
  for (unsigned m = 0; m < kMods; m++) {
    u64 first = ~u64(0), last = 0, count = 0;
    for (std::size_t i = 0; i < tasks.size(); i++) {
      if (tasks[i].mod != m || (tasks[i].kind != kBack && tasks[i].kind != kUp)) continue;
      first = std::min(first, at[i]), last = std::max(last, at[i]), count++;
    }
    if (count == 0) continue;
    for (u64 k = 0; k < 10; k++) {
      change[first + k * apart][0] += 2;
      if (m >= P_Limbs && count > 1) change[last + k * apart][0] += 2, change[last + k * apart][1] += 2;
      for (std::size_t i = 0; i < tasks.size(); i++) {
        if (tasks[i].mod == m && (tasks[i].kind == kRest || tasks[i].kind == kDown)) change[at[i] + k * apart][1]++;
      }
    }
  }
  int used = 0;
  for (const auto& [time, by] : change) {
    used += by[0];
    if (used > P_Sums) return false;
    used -= by[1];
  }
  return true;
}

// A timetable of `body` key switches in a random order that can go, spread over as many others as its slots and sums allow.
inline std::vector<Row> random_table(const Set& set, unsigned body, bool overlap, Rng& rng) {
  std::vector<Row> tasks = tasks_of(set);
  std::vector<u64> at(tasks.size());
  const auto last = [&](auto&& which) {
    u64 t = 0;
    for (std::size_t i = 0; i < tasks.size(); i++) t = which(tasks[i]) ? std::max(t, at[i]) : t;
    return t;
  };
  const auto first = [&](auto&& which) {
    u64 t = ~u64(0);
    for (std::size_t i = 0; i < tasks.size(); i++) t = which(tasks[i]) ? std::min(t, at[i]) : t;
    return t;
  };
  const auto adds = [](unsigned m) { return [m](const Row& r) { return (r.kind == kBack || r.kind == kUp) && r.mod == m; }; };
  for (std::size_t i = 0; i < tasks.size(); i++) {
    const Row& t = tasks[i];
    u64 after = 0;
    if (t.kind == kUp) after = last([&](const Row& r) { return r.kind == kBack && r.part == t.part; });
    if (t.kind == kRest) after = last(adds(t.mod));
    if (t.kind == kDown) after = std::max(last(adds(t.mod)), last([&](const Row& r) { return r.kind == kRest && r.part == t.part; }));
    at[i] = after + 1 + rng.below(40);
  }
  // How far apart key switches are at least: no slot and no sums are wanted for the next before they are free.
  const u64 end = last([](const Row&) { return true; }) + 1;
  u64 apart = std::max<u64>(end / 6 + 1, 1);
  const auto need = [&](u64 free, u64 wanted) { apart = std::max(apart, free + 1 > wanted ? free + 1 - wanted : 1); };
  for (unsigned j = 0; j < set.digits(); j++) {
    need(last([j](const Row& r) { return r.kind == kUp && r.part == j; }), first([j](const Row& r) { return r.kind == kBack && r.part == j; }));
  }
  for (unsigned c = 0; c < 2; c++) {
    need(last([c](const Row& r) { return r.kind == kDown && r.part == c; }), first([c](const Row& r) { return r.kind == kRest && r.part == c; }));
  }
  for (unsigned m = 0; m < kMods; m++) {
    if (last(adds(m)) == 0) continue;
    need(last(adds(m)), first(adds(m)));
  }
  while (apart < end && !limbs_suffice(tasks, at, apart)) apart++;
  if (!overlap) apart = end;
  std::vector<std::pair<u64, Row>> rows;
  for (unsigned b = 0; b < body; b++) {
    rows.push_back({2 * b * apart, {kTake, 0, 0, 0, 0}});
    for (std::size_t i = 0; i < tasks.size(); i++) {
      Row t = tasks[i];
      t.unit = unsigned(rng.below(P_Units));
      t.age = unsigned(at[i] / apart);
      rows.push_back({2 * ((at[i] + b * apart) % (body * apart)) + 1, t});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Row> table;
  for (const auto& row : rows) table.push_back(row.second);
  return table;
}

// A limb goes back again when its digit has been raised everywhere, while the sums of its modulus lack another digit: a digit that
// would be added twice. False where no limb of the table can.
inline bool repeat_back(std::vector<Row>& table, Rng& rng) {
  // The table round and round; of a key switch well inside, where each row of it stands.
  std::vector<std::pair<std::size_t, Row>> rows;
  std::vector<u64> taken(table.size() * kTags);  // key switches taken before each place
  const u64 takes = u64(std::count_if(table.begin(), table.end(), [](const Row& r) { return r.kind == kTake; }));
  const u64 job = takes * (kTags / 2);
  u64 newest = 0;
  for (std::size_t at = 0; at < taken.size(); at++) {
    const Row& row = table[at % table.size()];
    taken[at] = newest;
    if (row.kind == kTake) newest++;
    else if (newest == job + row.age) rows.emplace_back(at, row);
  }
  std::vector<std::pair<std::size_t, Row>> places;
  for (const auto& [_, back] : rows) {
    if (back.kind != kBack) continue;
    std::size_t raised = 0, added = 0;
    for (const auto& [at, r] : rows) {
      if (r.kind == kUp && r.part == back.part) raised = std::max(raised, at);
      if ((r.kind == kBack || r.kind == kUp) && r.mod == back.mod) added = std::max(added, at);
    }
    if (raised == 0 || raised + 1 > added) continue;
    Row again = back;
    again.age = unsigned(taken[raised + 1] - job);
    if (again.age < kTags) places.emplace_back((raised + 1) % table.size(), again);
  }
  if (places.empty()) return false;
  const auto& [at, row] = places[rng.below(places.size())];
  table.insert(table.begin() + long(at), row);
  return true;
}

// One thing wrong with a table.
inline std::vector<Row> wrong_table(std::vector<Row> table, Rng& rng) {
  std::size_t i = rng.below(table.size());
  while (table[i].kind == kTake) i = rng.below(table.size());
  Row& row = table[i];
  switch (rng.below(10)) {
    case 0: table.erase(table.begin() + long(i)); break;
    case 1: table.insert(table.begin() + long(rng.below(table.size())), row); break;
    case 2: row.mod = unsigned(rng.below(kMods + 1)); break;
    case 3: row.part = unsigned(rng.below(4)); break;
    case 4: row.unit = unsigned(rng.below(P_Units + 1)); break;
    case 5: row.kind = 1 + unsigned(rng.below(5)); break;
    case 6: row.age = unsigned(rng.below(8)); break;
    case 7: {  // too late, or too early
      const Row moved = row;
      table.erase(table.begin() + long(i));
      table.insert(table.begin() + long(rng.below(table.size() + 1)), moved);
      break;
    }
    case 8:
      if (repeat_back(table, rng)) break;
      [[fallthrough]];
    default: std::swap(row, table[rng.below(table.size())]);
  }
  return table;
}

// What the timetable does in each cycle.
class Rules {
 public:
  struct Start {
    Row row;
    unsigned tag, feed;
    u64 cycle;
    bool first, last;  // of the sums' products
  };
  struct Now {
    bool take = false, bad = false, task = false, able = false, rest = false;
    bool full = false;  // a key switch waits until another one has ended
    Row row{};
    unsigned tag = 0;
  };

  Rules(const Set& set, unsigned log_n, const std::vector<Row>& table)
      : set_(set), timing_(log_n), log_n_(log_n), table_(table), slots_(P_Digits + 2), banks_(kMods), units_(P_Units),
        feeds_(P_Feeds, kNever) {}

  // A new table while nothing is inside: what of the pool goes on.
  void follow(const Rules& before) {
    feed_ = before.feed_, newest_ = before.newest_;
    units_ = before.units_;
  }
  bool any_inside() const { return std::any_of(inside_, inside_ + kTags, [](bool b) { return b; }); }

  // Before the edge of a cycle: what is offered.
  Now now(u64 cycle) {
    for (unsigned t = 0; t < kTags; t++) {
      if (!inside_[t] || left_[t] != 0 || cycle <= ends_[t]) continue;
      inside_[t] = false;
      for (const Bank& b : banks_) left_behind_ = left_behind_ || b.finished[t] != 0;
    }
    Now n;
    if (!head_valid_) return n;
    n.row = table_[head_];
    if (n.row.kind == kTake) {
      n.tag = (newest_ + 1) % kTags;
      n.take = !inside_[n.tag];
      n.full = !n.take;
      return n;
    }
    n.tag = (newest_ + kTags - n.row.age) % kTags;
    if (!inside_[n.tag]) return n;
    n.task = true;
    n.rest = n.row.kind == kRest;
    n.bad = !fits(n.row);
    n.able = !n.bad && able(n.row, n.tag, cycle);
    return n;
  }
  // The edge. Returns whether a task starts.
  bool step(const Now& n, u64 cycle, bool switch_valid, bool promise) {
    const bool starts = n.able && (n.rest || promise);
    bool consumed = false;
    if (head_valid_) {
      if (n.row.kind == kTake) {
        if (n.take && (switch_valid || any_inside())) {
          consumed = true;
          newest_ = n.tag;
          if (switch_valid) inside_[n.tag] = true, left_[n.tag] = 2 * set_.level, ends_[n.tag] = 0;
        }
      } else {
        consumed = starts || !n.task;
      }
    }
    if (starts) start(n, cycle);
    if (!head_valid_ || consumed) {
      head_ = ptr_;
      ptr_ = (ptr_ + 1) % table_.size();
      head_valid_ = true;
    }
    return starts;
  }
  const Start& last() const { return last_; }
  // The cycle after which nothing runs any more.
  u64 quiet_after() const { return busy_until_; }
  const PoolTiming& timing() const { return timing_; }

 private:
  struct Slot {
    unsigned readers = 0, tag = 0, begun = 0;
    u64 full[P_Alpha] = {};
    i64 read = kNever, second = kNever;  // by its two ports
  };
  struct Bank {
    unsigned digits = 0, tag = 0;
    unsigned finished[kTags] = {};  // components that have not been read
    u64 written[kTags] = {};
    i64 given = kNever;
  };
  struct Unit {
    i64 free = kNever;
    bool inverse = false;
  };
  static constexpr i64 kNever = -(i64(1) << 40);

  bool active(unsigned m) const { return m < P_Limbs ? m < set_.level : m - P_Limbs < set_.special; }
  bool own(unsigned m, unsigned j) const { return m < set_.level && set_.digit_of(m) == j; }
  unsigned columns(const Row& r) const {
    return r.kind == kUp || r.kind == kBack ? unsigned(set_.digit(r.part).size()) : set_.special;
  }
  unsigned slot(const Row& r) const { return r.kind == kUp || r.kind == kBack ? r.part : P_Digits + r.part; }
  unsigned column(const Row& r) const { return r.kind == kBack ? r.mod % set_.alpha : r.mod - P_Limbs; }
  bool fits(const Row& r) const {
    if (r.unit >= P_Units || r.mod >= kMods || !active(r.mod)) return false;
    switch (r.kind) {
      case kBack: return r.part < P_Digits && own(r.mod, r.part);
      case kUp: return r.part < set_.digits() && r.part < P_Digits && !own(r.mod, r.part);
      case kRest: return r.part < 2 && r.mod >= P_Limbs;
      case kDown: return r.part < 2 && r.mod < P_Limbs;
      default: return false;
    }
  }
  bool apart(i64 before, u64 cycle) const { return i64(cycle) >= before + i64(timing_.rows); }
  bool able(const Row& r, unsigned tag, u64 cycle) const {
    const Unit& unit = units_[r.unit];
    if (i64(cycle) < unit.free + i64(unit.inverse == r.back() ? 0 : 3 * kColumn)) return false;
    if (!apart(feeds_[feed_], cycle)) return false;
    const Slot& s = slots_[slot(r)];
    const Bank& b = banks_[r.mod];
    // Products read sums kM + 2 cycles later than what goes down.
    bool ok = r.kind == kRest || apart(b.given + (r.kind == kDown ? i64(kM) + 2 : 0), cycle);
    if (r.kind == kBack || r.kind == kRest) ok = ok && (s.readers == 0 || (s.tag == tag && !(s.begun >> column(r) & 1)));
    if (r.kind == kUp || r.kind == kDown) {
      bool whole = true;  // no column is written any more
      for (unsigned a = 0; a < columns(r); a++) {
        ok = ok && (s.begun >> a & 1) && cycle >= s.full[a];
        whole = whole && cycle + 1 >= s.full[a] + timing_.rows;
      }
      ok = ok && s.tag == tag && (s.readers >> r.mod & 1) && (apart(s.read, cycle) || (whole && apart(s.second, cycle)));
    }
    if (r.kind == kBack || r.kind == kUp) {
      ok = ok && (b.digits == 0 ? b.finished[tag] == 0 : b.tag == tag && !(b.digits >> r.part & 1));
      if (takes(r, b)) ok = ok && used_ + 2 <= P_Sums;
    }
    if (r.kind == kRest || r.kind == kDown) ok = ok && (b.finished[tag] >> r.part & 1);
    if (r.kind == kRest) ok = ok && cycle >= b.written[tag];
    return ok && !left_behind_;
  }
  unsigned all() const { return (1u << set_.digits()) - 1; }
  // Whether it takes two limbs: sums that begin, and last products modulo a special prime.
  bool takes(const Row& r, const Bank& b) const {
    return b.digits == 0 || (r.mod >= P_Limbs && (b.digits | 1u << r.part) == all());
  }
  void start(const Now& n, u64 cycle) {
    const Row& r = n.row;
    const unsigned digits = banks_[r.mod].digits;
    last_ = {r, n.tag, feed_, cycle, digits == 0, (digits | 1u << r.part) == all()};
    units_[r.unit] = {i64(cycle + interval(log_n_, r.back())), r.back()};
    feeds_[feed_] = i64(cycle);
    feed_ = (feed_ + 1) % P_Feeds;
    Slot& s = slots_[slot(r)];
    Bank& b = banks_[r.mod];
    if (r.kind == kBack || r.kind == kRest) {
      if (s.readers == 0) {
        s.tag = n.tag;
        s.begun = 0;
        for (unsigned m = 0; m < kMods; m++) {
          const bool reads = r.kind == kBack ? active(m) && !own(m, r.part) : m < set_.level;
          s.readers |= unsigned(reads) << m;
        }
      }
      s.begun |= 1u << column(r);
      s.full[column(r)] = cycle + timing_.full();
    } else {
      s.readers &= ~(1u << r.mod);
      (apart(s.read, cycle) ? s.read : s.second) = i64(cycle);
    }
    if (r.kind == kBack || r.kind == kUp) {
      b.given = i64(cycle);
      if (b.digits == 0) used_ += 2;
      b.digits |= 1u << r.part;
      b.tag = n.tag;
      if (b.digits == all()) {
        b.digits = 0;
        b.finished[n.tag] = 3;
        b.written[n.tag] = cycle + timing_.written();
      }
    } else {
      b.finished[n.tag] &= ~(1u << r.part);
      used_--;
    }
    const u64 end = cycle + timing_.result() + timing_.rows - 1;
    if (r.kind == kDown) left_[n.tag]--, ends_[n.tag] = std::max(ends_[n.tag], end);
    busy_until_ = std::max(busy_until_, end);
  }

  Set set_;
  PoolTiming timing_;
  unsigned log_n_;
  std::vector<Row> table_;
  std::vector<Slot> slots_;
  std::vector<Bank> banks_;
  std::vector<Unit> units_;
  std::vector<i64> feeds_;
  unsigned feed_ = 0, newest_ = 0;
  int used_ = 0;               // limbs of sums
  bool left_behind_ = false;   // sums, where their key switch ended
  bool inside_[kTags] = {};
  unsigned left_[kTags] = {};
  u64 ends_[kTags] = {};
  bool head_valid_ = false;
  std::size_t head_ = 0, ptr_ = 0;
  u64 busy_until_ = 0;
  Start last_{};
};
