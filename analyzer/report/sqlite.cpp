// SPDX-License-Identifier: BSD-3-Clause
// The report as a SQLite database: the tables of NDJSON, and what happened when. The only file that
// knows SQLite.
//
// A new database is written aside and renamed; to one that is there, a run is added in one
// transaction. Lists, tallies and evidence are JSON text, for SQLite's json_each().

#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <unordered_set>

#include "report/assets.hpp"
#include "report/event.hpp"
#include "report/formats.hpp"
#include "report/json_value.hpp"
#include "report/output.hpp"

namespace rocetrace {
namespace {

constexpr int kApplicationId = 0x526f4345;  // "RoCE"
constexpr std::string_view kSchema = "rocetrace/1";

/// What one column holds, by the type of its field.
enum class Kind : u8 { integer, real, text };

struct Column {
  std::string name;
  Kind kind;
};

/// The columns of a table; they never depend on its rows.
class ColumnsOf {
 public:
  template <class T>
  void operator()(std::string_view name, const T&) {
    if constexpr (Described<T>) {
      const std::size_t size = prefix_.size();
      prefix_ += name;
      prefix_ += '.';
      describe(T{}, *this);
      prefix_.resize(size);
    } else if constexpr (std::same_as<T, Time>) {
      add(name, Kind::text);
      add(std::string{name} + "_ns", Kind::integer);
    } else if constexpr (std::integral<T>) {
      add(name, Kind::integer);
    } else if constexpr (std::floating_point<T>) {
      add(name, Kind::real);
    } else {
      add(name, Kind::text);
    }
  }
  template <class T>
  void operator()(std::string_view name, const std::optional<T>&) {
    (*this)(name, T{});
  }
  template <class T>
  void operator()(std::string_view name, const IfSet<T>&) {
    (*this)(name, T{});
  }

  std::vector<Column> columns;

 private:
  void add(std::string_view name, Kind kind) {
    columns.push_back({prefix_ + std::string{name}, kind});
  }
  std::string prefix_;
};

class Database;

/// A prepared statement. Parameters are bound one after the other.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  void bind_null() { check(sqlite3_bind_null(statement_, ++bound_)); }
  void bind(bool value) { check(sqlite3_bind_int(statement_, ++bound_, value ? 1 : 0)); }
  void bind(std::integral auto value) {
    if (std::in_range<sqlite3_int64>(value)) {
      check(sqlite3_bind_int64(statement_, ++bound_, static_cast<sqlite3_int64>(value)));
    } else {
      bind(std::string_view{fmt::format("{}", value)});
    }
  }
  void bind(double value) { check(sqlite3_bind_double(statement_, ++bound_, value)); }
  void bind(std::string_view text) {
    check(sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT,
                              SQLITE_UTF8));
  }
  void bind_word(Word word) { word.empty() ? bind_null() : bind(word); }

  /// Runs it to its next row. False at the end; then it can be bound anew.
  bool step();
  sqlite3_int64 integer(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string text(int column) const {
    const unsigned char* bytes = sqlite3_column_text(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return bytes ? std::string(bytes, bytes + size) : std::string{};
  }

 private:
  void check(int result);
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// An open database file.
class Database {
 public:
  /// `name` is for messages.
  Database(const std::string& path, std::string name) : name_{std::move(name)} {
    sqlite3* connection = nullptr;
    const int result = sqlite3_open_v2(path.c_str(), &connection,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    connection_.reset(connection);  // there even when opening failed, for its message
    check(result);
  }

  void run(const std::string& sql) {
    check(sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }
  sqlite3_int64 number(const std::string& sql) {
    Statement statement{*this, sql};
    return statement.step() ? statement.integer(0) : 0;
  }
  void check(int result) {
    if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE) return;
    throw std::runtime_error{fmt::format(
        "{}: {}", name_, connection_ ? sqlite3_errmsg(connection_.get()) : "out of memory")};
  }
  [[noreturn]] void refuse(std::string_view why) const {
    throw std::runtime_error{fmt::format("{}: {}", name_, why)};
  }
  sqlite3* connection() const { return connection_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
  };
  std::unique_ptr<sqlite3, Close> connection_;
  std::string name_;
};

Statement::Statement(Database& database, const std::string& sql) : database_{database} {
  check(sqlite3_prepare_v2(database.connection(), sql.c_str(), static_cast<int>(sql.size()),
                           &statement_, nullptr));
}
void Statement::check(int result) {
  database_.check(result);
}

bool Statement::step() {
  const int result = sqlite3_step(statement_);
  check(result);
  if (result == SQLITE_ROW) return true;
  check(sqlite3_reset(statement_));
  bound_ = 0;
  return false;
}

/// Binds the fields of a row in the order of ColumnsOf.
class Binder {
 public:
  explicit Binder(Statement& statement) : statement_{statement} {}

  template <class T>
  void operator()(std::string_view, const T& value) {
    if constexpr (Described<T>) {
      describe(value, *this);
    } else if constexpr (std::same_as<T, Time>) {
      statement_.bind(std::string_view{time_text(value.ns)});
      statement_.bind(value.ns);
    } else if constexpr (std::same_as<T, Word>) {
      statement_.bind_word(value);
    } else if constexpr (std::same_as<T, std::string>) {
      statement_.bind(well_formed(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      statement_.bind(value);
    } else {
      statement_.bind(std::string_view{as_json(value)});
    }
  }
  template <class T>
  void operator()(std::string_view name, const std::optional<T>& value) {
    if (value) return (*this)(name, *value);
    ColumnsOf absent;
    absent(name, T{});
    for (std::size_t i = 0; i < absent.columns.size(); ++i) statement_.bind_null();
  }
  template <class T>
  void operator()(std::string_view name, const IfSet<T>& value) {
    (*this)(name, value.value);
  }

 private:
  static std::string as_json(const auto& value) {
    std::string text;
    Sink out = Sink::memory(text);
    json::write(out, value);
    out.commit();
    return text;
  }
  // Ill-formed UTF-8 and control characters do not belong into a database that others read.
  static std::string well_formed(const std::string& text) { return printable(text); }

  Statement& statement_;
};

std::string quoted(std::string_view name) {
  return fmt::format("\"{}\"", name);
}

/// Makes the table, or adds the columns that it lacks: an earlier version may have made it.
void prepare_table(Database& database, const std::string& table,
                   const std::vector<Column>& columns) {
  constexpr std::string_view kTypes[] = {"INTEGER", "REAL", "TEXT"};
  const auto definition = [&](const Column& column) {
    return quoted(column.name) + ' ' + std::string{kTypes[static_cast<std::size_t>(column.kind)]};
  };
  std::string sql = "CREATE TABLE IF NOT EXISTS " + table + " (run INTEGER NOT NULL";
  for (const Column& column : columns) sql += ", " + definition(column);
  database.run(sql + ")");
  std::unordered_set<std::string> known;
  Statement listing{database, "SELECT name FROM pragma_table_info('" + table + "')"};
  while (listing.step()) known.insert(listing.text(0));
  for (const Column& column : columns)
    if (!known.contains(column.name))
      database.run("ALTER TABLE " + table + " ADD COLUMN " + definition(column));
}

template <class Row>
std::vector<Column> columns_of() {
  ColumnsOf visit;
  describe(Row{}, visit);
  return std::move(visit.columns);
}

template <class Row>
std::string insertion(const std::string& table) {
  std::string names = "run";
  std::string values = "?";
  for (const Column& column : columns_of<Row>()) {
    names += ", " + quoted(column.name);
    values += ", ?";
  }
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, values);
}

template <class Row>
void insert(Statement& statement, sqlite3_int64 run, const Row& row) {
  statement.bind(run);
  describe(row, Binder{statement});
  statement.step();
}

template <class Row>
Row row_type(const Table<Row>&);
template <class Row>
Row row_type(const std::vector<Row>&);

class SqliteOutput : public Output {
 public:
  SqliteOutput(const Report& report, const std::string& path)
      : path_{path},
        temporary_{::access(path.c_str(), F_OK) == 0
                       ? std::string{}
                       : fmt::format("{}.{}.part", path, ::getpid())} {
    try {
      database_ = std::make_unique<Database>(temporary_.empty() ? path : temporary_, path);
      begin(report);
    } catch (...) {
      abandon();
      throw;
    }
  }
  ~SqliteOutput() override { abandon(); }

  void on_moment(const Moment& moment) override {
    const EventKind kind = event_kind(moment);
    if (kind == EventKind::none || !wanted_.contains(moment.arrival.flow)) return;
    add(moment, kind, kind == EventKind::retransmission ? moment.episode : nullptr);
  }

  void finish() override {
    events_.reset();
    database_->run("COMMIT");
    database_.reset();
    if (temporary_.empty()) return;
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
      throw std::runtime_error{fmt::format("{}: cannot rename: {}", path_, std::strerror(errno))};
    temporary_.clear();
  }

 private:
  void begin(const Report& report) {
    // What is written aside needs no journal, and no care for a crash.
    if (!temporary_.empty()) database_->run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
    database_->run("BEGIN IMMEDIATE");
    const bool is_new = database_->number("SELECT count(*) FROM sqlite_schema") == 0;
    if (!is_new && database_->number("PRAGMA application_id") != kApplicationId)
      database_->refuse("is a database of something else");
    database_->run(fmt::format("PRAGMA application_id={}", kApplicationId));
    prepare_table(*database_, "totals", columns_of<Totals>());
    describe_tables(report, [&](const char* table, const char*, const auto& rows) {
      prepare_table(*database_, table, columns_of<decltype(row_type(rows))>());
    });
    database_->run(std::string{assets::schema_sql});
    if (database_->number(
            "SELECT count(*) FROM pragma_table_info('events') WHERE name = 'episode'") ==
        0)  // an earlier version made the table
      database_->run("ALTER TABLE events ADD COLUMN episode INTEGER");
    if (is_new) database_->run("CREATE INDEX half_flows_by_id ON half_flows (run, id)");

    run_ = database_->number("SELECT ifnull(max(run), 0) + 1 FROM runs");
    fill(report);
    events_ = std::make_unique<Statement>(
        *database_,
        "INSERT INTO events (run, time, time_ns, frame, half_flow, kind, psn, class, cause, place, "
        "packets, silence_ns, syndrome, episode) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?)");
  }

  void fill(const Report& report) {
    std::vector<std::string> files;
    for (const CaptureRow& capture : report.captures) files.push_back(printable(capture.file));
    Statement runs{*database_, "INSERT INTO runs (run, schema, captures) VALUES (?, ?, ?)"};
    runs.bind(run_);
    runs.bind(kSchema);
    Binder{runs}("captures", files);
    runs.step();
    Statement totals{*database_, insertion<Totals>("totals")};
    insert(totals, run_, report.totals);
    describe_tables(report, [&](const char* table, const char*, const auto& rows) {
      using Row = decltype(row_type(rows));
      Statement statement{*database_, insertion<Row>(table)};
      each_row(rows, [&](const Row& row) {
        insert(statement, run_, row);
        if constexpr (std::same_as<Row, HalfFlowRow>) wanted_.insert(row.id);
      });
    });
  }

  void add(const Moment& moment, EventKind kind, const roce::flow::SettledEpisode* episode) {
    using namespace roce::flow;
    const Observation& packet = *moment.packet;
    Statement& row = *events_;
    const auto count = [&](u64 value) { value != 0 ? row.bind(value) : row.bind_null(); };
    row.bind(run_);
    row.bind(std::string_view{time_text(packet.time)});
    row.bind(packet.time);
    row.bind(packet.frame);
    row.bind(moment.arrival.flow);
    row.bind_word(kEventKinds[static_cast<std::size_t>(kind)]);
    kind == EventKind::cnp ? row.bind_null() : row.bind(packet.psn);
    const PacketClass of = moment.arrival.packet_class;
    row.bind_word(of != PacketClass::none ? name(of) : Word{});
    row.bind_word(episode && episode->cause != Cause::none ? name(episode->cause) : Word{});
    row.bind_word(episode && episode->place != Place::none ? name(episode->place) : Word{});
    const bool restart = episode && episode->start_frame == moment.frame.number;
    count(restart ? episode->packets : moment.arrival.missing);
    count(restart ? episode->silence : 0);
    const bool is_nak = kind == EventKind::nak || kind == EventKind::rnr_nak;
    row.bind_word(is_nak ? syndrome_word(packet.syndrome()) : Word{});
    count(episode ? episode->number : 0);
    row.step();
  }

  void abandon() {
    events_.reset();
    database_.reset();  // rolls back what was not committed
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  std::string path_;
  std::string temporary_;  // empty when a run is added to a database
  std::unique_ptr<Database> database_;
  std::unique_ptr<Statement> events_;
  std::unordered_set<u64> wanted_;  // half-flows of the report
  sqlite3_int64 run_ = 1;
};

}  // namespace

std::unique_ptr<Output> make_sqlite(const Report& report, const std::string& path) {
  return std::make_unique<SqliteOutput>(report, path);
}

}  // namespace rocetrace
