"""Random queries by S3 Select and by DuckDB over random files: columns of any type and name, as CSV, JSON lines and Parquet.

Reads its job from standard input as JSON and prints the outcome as JSON: the number of queries, and those whose results differ.

What differs by specification is said here, with its reason, and the query for DuckDB says it in DuckDB's words:

* `/` of integers is `//` of DuckDB, whose `/` has a fraction.
* CAST to INT cuts off what is after the point, as AWS does. DuckDB rounds, so it gets `trunc`.
* The quotient and the average of decimals have 38 digits. DuckDB returns a double, so they are compared to 12 digits.
* A FLOAT of 32 bits is calculated with in 64 bits. DuckDB stays in 32 bits, so it gets the column as a DOUBLE.
* The SQL of S3 has no type for a time of the day: TIME is a text, with the digits of its unit.
* Bytes are base64, which Python compares as bytes. A text beside them is its UTF-8, for which DuckDB gets the bytes.
* A timestamp has the digits of its unit and `Z`. DuckDB gets `epoch_ns` or `epoch_us`, and Python compares the integers.
* The sum of integers must have 64 bits, where DuckDB's has 128.
* `||` and LIKE take texts alone. The queries give them no others.
* Fields of CSV are texts. Beside a number they count as their number, for which DuckDB gets a CAST.
* INT96 of Parquet has nanoseconds, of which DuckDB reads microseconds: the files have no others there.
* NaN has no order, as in IEEE 754; DuckDB calls it the largest number. The files have none.
* NULL is an empty field in an answer of CSV, as an empty text is.
* Timestamps outside the years 1 to 9999, DELTA_BYTE_ARRAY, LZ4 and INTERVAL are refused. The files have none of them.
"""

import base64
import bz2
import csv
import datetime
import decimal
import gzip
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet
from decimal import Decimal
from xml.sax.saxutils import escape

job = json.load(sys.stdin)
rng = random.Random(job["seed"])
decimal.getcontext().prec = 100
TEXTS = ["", "a", "Ada", "b,c", 'say "x"', "ünïcode", "100%", "under_score", "tab\there", "  spaces  ", "😀 face", "Ａ wide", "line\nbreak", "it's", "a" * 200]
NAMES = ["2020", "2019", "10", "9", "0", "__proto__", "constructor", "toString", "a.b", "a b", "ünï", "value", "list", "key", "x", "y", "zed", "element", "Mixed", "select", "_7", "hasOwnProperty", "length", "c0", "c1"]
SMALL = 1000


class Column:
    """A column with its values: `kind` says what a query may do with it, `select` and `duck` how it is written."""

    def __init__(self, name, kind, values, arrow=None, select="", duck="", extreme=False, unit=None):
        self.name, self.kind, self.values, self.arrow, self.extreme, self.unit = name, kind, values, arrow, extreme, unit
        self.select, self.duck = select or f"s.{quoted(name)}", duck or quoted(name)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def text_literal(text):
    return "'" + text.replace("'", "''") + "'"


def one_of(*makers):
    return rng.choice(makers)()


def integer(bits, signed, extreme):
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    if not extreme:
        low, high = max(low, -SMALL), min(high, SMALL)
    return one_of(lambda: rng.randint(low, high), lambda: rng.choice([low, high, 0, min(1, high)]), lambda: rng.randint(max(low, -9), 9))


def double(extreme=False):
    if extreme and rng.random() < 0.3:
        return rng.choice([5e-324, -1.7976931348623157e308, 2.2250738585072014e-308, 1e21, 123456789012345680.0, -0.0])
    return one_of(lambda: rng.randint(-4000, 4000) / 4, lambda: rng.uniform(-1e4, 1e4), lambda: float(rng.randint(-20, 20)))


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def number_of_digits(precision, scale):
    digits = rng.randint(1, precision)
    return Decimal(rng.randint(-(10**digits) + 1, 10**digits - 1)).scaleb(-scale)


def day():
    return one_of(
        lambda: datetime.date(rng.randint(1970, 2040), rng.randint(1, 12), rng.randint(1, 28)),
        lambda: datetime.date.fromordinal(rng.randint(1, datetime.date.max.toordinal())),
    )


def instant(low_year, high_year):
    start = (datetime.date(low_year, 1, 1) - datetime.date(1970, 1, 1)).days * 86_400
    end = (datetime.date(high_year, 12, 31) - datetime.date(1970, 1, 1)).days * 86_400
    return one_of(lambda: rng.randint(0, 2_000_000_000), lambda: rng.randint(start, end), lambda: rng.choice([0, -1, start, end, 951_782_400]))


def some_bytes(length=None):
    return rng.choice([b"", b"text", b"\xff", b"\xfe", b"\xef\xbf\xbd", b"\x00\x01"]) if length is None else rng.choice([rng.randbytes(length), b"\xff" * length, b"\xfe" * length])


def many(rows, make, nulls):
    return [None if rng.random() < nulls else make() for _ in range(rows)]


def names(count):
    chosen, used = [], set()
    for name in rng.sample(NAMES, len(NAMES)):
        if name.lower() not in used and len(chosen) < count:
            chosen.append(name)
            used.add(name.lower())
    return chosen


def nested_type(depth):
    """A type of Parquet with what makes its values."""
    leaves = [
        (pa.int32(), lambda: integer(32, True, True)),
        (pa.int64(), lambda: integer(64, True, True)),
        (pa.float64(), double),
        (pa.float32(), lambda: float32(double())),
        (pa.string(), lambda: rng.choice(TEXTS)),
        (pa.bool_(), lambda: rng.random() < 0.5),
        (pa.binary(), some_bytes),
        (pa.decimal128(20, 3), lambda: number_of_digits(20, 3)),
        (pa.date32(), day),
        (pa.time64("us"), lambda: rng.randint(0, 86_399_999_999)),
        (pa.timestamp("us"), lambda: instant(1, 9999) * 1_000_000),
    ]
    if depth == 0 or rng.random() < 0.35:
        return rng.choice(leaves)
    kind = rng.choice(["struct", "list", "list", "map", "struct"])
    missing = rng.choice([0, 0.2])
    if kind == "struct":
        fields = [(name, *nested_type(depth - 1)) for name in names(rng.randint(1, 4))]
        return pa.struct([(name, type_) for name, type_, _ in fields]), lambda: {name: many(1, make, missing)[0] for name, _, make in fields}
    inner, make = nested_type(depth - 1)
    if kind == "list":
        return pa.list_(inner), lambda: many(rng.randint(0, 3), make, missing)
    keys = rng.choice([pa.string(), pa.int32()])
    key = (lambda: rng.choice(NAMES)) if keys == pa.string() else (lambda: rng.randint(-3, 30))
    return pa.map_(keys, inner), lambda: list({key(): many(1, make, missing)[0] for _ in range(rng.randint(0, 3))}.items())


def parquet_column(name, rows):
    nulls = rng.choice([0, 0.15, 0.5])
    extreme = rng.random() < 0.3
    made = lambda kind, arrow, make, **more: Column(name, kind, many(rows, make, nulls), arrow, **more)
    kind = rng.choice(["int", "int", "uint64", "dec", "dec", "float", "float32", "float16", "text", "text", "dictionary", "bool", "bytes", "fixed", "date", "time", "timestamp", "timestamp", "nested", "nested"])
    if kind == "int":
        bits, signed = rng.choice([(8, True), (16, True), (32, True), (64, True), (8, False), (16, False), (32, False)])
        arrow = {(8, True): pa.int8(), (16, True): pa.int16(), (32, True): pa.int32(), (64, True): pa.int64(), (8, False): pa.uint8(), (16, False): pa.uint16(), (32, False): pa.uint32()}[bits, signed]
        return made("int", arrow, lambda: integer(bits, signed, extreme), extreme=extreme and bits == 64, duck=f"CAST({quoted(name)} AS BIGINT)")
    if kind == "uint64":
        return made("dec", pa.uint64(), lambda: integer(64, False, True), extreme=True, duck=f"CAST({quoted(name)} AS DECIMAL(38, 0))")
    if kind == "dec":
        precision = rng.randint(2, 38) if extreme else rng.randint(2, 8)
        scale = rng.randint(0, min(precision, 4) if not extreme else precision)
        return made("dec", pa.decimal128(precision, scale), lambda: number_of_digits(precision, scale), extreme=extreme)
    if kind == "float":
        return made("float", pa.float64(), lambda: double(extreme), extreme=extreme)
    if kind == "float32":
        return made("float32", pa.float32(), lambda: float32(double()), extreme=True)
    if kind == "float16":
        return made("float32", pa.float16(), lambda: rng.randint(-2000, 2000) / 8, extreme=True)
    if kind == "text":
        return made("text", rng.choice([pa.string(), pa.large_string()]), lambda: rng.choice(TEXTS))
    if kind == "dictionary":
        return made("text", pa.dictionary(pa.int32(), pa.string()), lambda: rng.choice(TEXTS[:6]))
    if kind == "bool":
        return made("bool", pa.bool_(), lambda: rng.random() < 0.5)
    if kind == "bytes":
        return made("bytes", rng.choice([pa.binary(), pa.large_binary()]), some_bytes)
    if kind == "fixed":
        length = rng.choice([1, 3, 17])
        return made("bytes", pa.binary(length), lambda: some_bytes(length))
    if kind == "date":
        return made("date", pa.date32(), day)
    if kind == "time":
        unit, per = rng.choice([("ms", 1000), ("us", 10**6)])
        arrow = pa.time32("ms") if unit == "ms" else pa.time64(unit)
        return made("time", arrow, lambda: rng.choice([rng.randint(0, 86_400 * per - 1), 0, 86_400 * per - 1]), unit=unit)
    if kind == "timestamp":
        unit, per = rng.choice([("s", 1), ("ms", 1000), ("us", 10**6), ("ns", 10**9)])
        zone = rng.choice([None, "UTC", "Europe/Vienna"])
        low, high = (1700, 2250) if unit == "ns" else (1, 9999)
        epoch = "epoch_ns" if unit == "ns" else "epoch_us"
        return made("timestamp", pa.timestamp(unit, zone), lambda: instant(low, high) * per + rng.randint(0, per - 1), unit=epoch)
    arrow, make = nested_type(3)
    return made("nested", arrow, make)


def parts_of(column, select, duck, arrow, depth):
    """The leaves of a nested column of Parquet, as columns of their own. A part of what is not there is MISSING."""
    if not isinstance(arrow, pa.DataType):
        return []
    found = []
    if pa.types.is_struct(arrow) and depth > 0:
        for field in arrow:
            found += parts_of(column, f"{select}.{quoted(field.name)}", f"{duck}.{quoted(field.name)}", field.type, depth - 1)
    elif pa.types.is_list(arrow) and depth > 0:
        at = rng.randint(0, 2)
        found += parts_of(column, f"{select}[{at}]", f"{duck}[{at + 1}]", arrow.value_type, depth - 1)
    elif not pa.types.is_nested(arrow):
        kinds = {pa.int32(): "int", pa.int64(): "int", pa.float64(): "float", pa.float32(): "float32", pa.string(): "text", pa.bool_(): "bool", pa.binary(): "bytes", pa.date32(): "date", pa.decimal128(20, 3): "dec", pa.timestamp("us"): "timestamp"}
        kind = kinds.get(arrow)
        if kind is not None:
            part = Column(column.name, kind, [], arrow, select, f"CAST({duck} AS BIGINT)" if kind == "int" else duck, kind in ("int", "dec", "float32"), "epoch_us" if kind == "timestamp" else None)
            found.append(part)
    return found


class Source:
    """A file with its form for S3 Select, and its table for DuckDB."""

    def __init__(self, name, body, form, table, columns, options=None, arrow=None):
        self.name, self.body, self.form, self.table, self.columns, self.options, self.arrow = name, body, form, table, columns, options, arrow
        self.path = ""
        self.parts = [part for one in columns if one.kind == "nested" for part in parts_of(one, one.select, one.duck, one.arrow, 2)]


def kept(folder, name, body):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(body)
    return path


def table_of(columns):
    return pa.table([pa.array(one.values, type=one.arrow) for one in columns], names=[one.name for one in columns])


def instants(columns):
    return [one for one in columns if one.kind == "timestamp"]


def parquet_source(folder, at):
    rows = rng.choice([0, 1, 30, 120, 400])
    columns = [parquet_column(name, rows) for name in names(rng.randint(1, 7))]
    table = table_of(columns)
    options = {
        "compression": rng.choice(["snappy", "gzip", "brotli", "zstd", "none"]),
        "data_page_version": rng.choice(["1.0", "2.0"]),
        "version": rng.choice(["2.4", "2.6"]),
        "use_dictionary": rng.choice([True, False]),
        "data_page_size": rng.choice([50, 1_000, 1_048_576]),
        "row_group_size": rng.choice([7, 50, 1_000_000]),
        "write_page_index": rng.choice([True, False]),
        "write_statistics": rng.choice([True, False]),
        "store_decimal_as_integer": rng.choice([True, False]),
        "use_compliant_nested_type": rng.choice([True, False]),
        "use_byte_stream_split": False,
    }
    if not options["use_dictionary"] and rng.random() < 0.5:
        encodings = {}
        for one in columns:
            if one.arrow in (pa.int32(), pa.int64()):
                encodings[one.name] = "DELTA_BINARY_PACKED"
            if one.arrow in (pa.float32(), pa.float64(), pa.int32(), pa.int64()) and rng.random() < 0.5:
                encodings[one.name] = "BYTE_STREAM_SPLIT"
            if one.arrow in (pa.string(), pa.binary()):
                encodings[one.name] = "DELTA_LENGTH_BYTE_ARRAY"
        if encodings and not any("." in name for name in encodings):
            options["column_encoding"] = encodings
    if any(one.unit == "epoch_ns" for one in columns):
        # The version before turns nanoseconds into microseconds.
        options["version"] = "2.6"
    if any(one.unit == "epoch_ns" for one in columns) and rng.random() < 0.3:
        for one in columns:
            # It holds nanoseconds, for the years that these have. DuckDB reads microseconds of them.
            if one.kind == "timestamp" and one.unit != "epoch_ns":
                break
        else:
            options["use_deprecated_int96_timestamps"] = True
            for one in instants(columns):
                one.values, one.unit = [value and value // 1000 * 1000 for value in one.values], "epoch_us"
            table = table_of(columns)
    file = io.BytesIO()
    parquet.write_table(table, file, **options)
    name = f"{at}.parquet"
    path = kept(folder, name, file.getvalue())
    return Source(name, file.getvalue(), {"Parquet": {}}, f"read_parquet('{path}')", columns, options)


def json_type(depth):
    """A type of DuckDB with what makes its values, for JSON."""
    leaves = [("BIGINT", lambda: integer(64, True, True)), ("DOUBLE", lambda: double(True)), ("VARCHAR", lambda: rng.choice(TEXTS)), ("BOOLEAN", lambda: rng.random() < 0.5)]
    if depth == 0 or rng.random() < 0.4:
        return rng.choice(leaves)
    if rng.random() < 0.5:
        inner, make = json_type(depth - 1)
        return f"{inner}[]", lambda: many(rng.randint(0, 3), make, 0.2)
    fields = [(name, *json_type(depth - 1)) for name in names(rng.randint(1, 4))]
    return f"STRUCT({', '.join(f'{quoted(name)} {type_}' for name, type_, _ in fields)})", lambda: {name: many(1, make, 0.1)[0] for name, _, make in fields}


def json_source(folder, at):
    rows = rng.choice([1, 30, 200])
    columns = []
    for name in names(rng.randint(1, 6)):
        nulls = rng.choice([0, 0.2])
        kind = rng.choice(["int", "float", "text", "bool", "nested", "dec"])
        extreme = rng.random() < 0.3 or kind == "dec"
        scale = rng.randint(0, 20)
        type_, make = {
            "dec": (f"DECIMAL(38, {scale})", lambda scale=scale: number_of_digits(38, scale)),
            "int": ("BIGINT", lambda extreme=extreme: integer(64, True, extreme)),
            "float": ("DOUBLE", lambda extreme=extreme: double(extreme)),
            "text": ("VARCHAR", lambda: rng.choice(TEXTS)),
            "bool": ("BOOLEAN", lambda: rng.random() < 0.5),
            "nested": json_type(3),
        }[kind]
        columns.append(Column(name, kind, many(rows, make, nulls), type_, extreme=extreme))
    records = [{one.name: one.values[row] for one in columns} for row in range(rows)]
    is_document = rng.random() < 0.4
    # Python writes no Decimal: it gets quotes, which are taken away.
    dumped = [re.sub(r'"@([^"@]*)@"', r"\1", json.dumps(one, ensure_ascii=rng.random() < 0.5, default=lambda value: f"@{value:f}@")) for one in records]
    lines = "".join(f"{one}\n" for one in dumped).encode()
    body = (rng.choice(["[%s]", " [ %s ]\n"]) % rng.choice([",", " ,\n"]).join(dumped)).encode() if is_document else lines
    types = "{" + ", ".join(f"{text_literal(one.name)}: {text_literal(one.arrow)}" for one in columns) + "}"
    table = f"read_json('{kept(folder, f'{at}.json', lines)}', format='newline_delimited', columns={types})"
    body, compression = compressed(body)
    form = {"JSON": {"Type": "DOCUMENT" if is_document else "LINES"}, "CompressionType": compression}
    return Source(f"{at}.json", body, form, table, columns)


def compressed(body):
    kind = rng.choice(["NONE", "NONE", "GZIP", "BZIP2", "ZSTD"])
    if kind == "GZIP":
        return gzip.compress(body), kind
    if kind == "BZIP2":
        return bz2.compress(body), kind
    return (pa.Codec("zstd").compress(body, asbytes=True), kind) if kind == "ZSTD" else (body, kind)


def csv_source(folder, at):
    rows = rng.choice([1, 30, 300])
    header = rng.choice(["USE", "USE", "NONE", "IGNORE"])
    columns = []
    for index, name in enumerate(names(rng.randint(1, 6))):
        kind = rng.choice(["int", "dec", "float", "text", "bool", "timestamp"])
        make = {
            "int": lambda: str(integer(64, True, False)),
            "dec": lambda: f"{number_of_digits(8, 3):f}",
            "float": lambda: repr(double()),
            "text": lambda: rng.choice(TEXTS),
            "bool": lambda: rng.choice(["true", "false", "TRUE"]),
            "timestamp": lambda: datetime.datetime.fromtimestamp(rng.randint(0, 2_000_000_000), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }[kind]
        base = f"s.{quoted(name)}" if header == "USE" else f"s._{index + 1}"
        select = {"int": f"CAST({base} AS INT)", "float": f"CAST({base} AS FLOAT)", "dec": f"CAST({base} AS DECIMAL(12, 3))", "bool": f"CAST({base} AS BOOL)", "timestamp": f"CAST({base} AS TIMESTAMP)"}.get(kind, base)
        # Beside a number, a field counts as its number.
        if kind in ("int", "dec") and rng.random() < 0.5:
            select = f"({base} + 0)"
        duck = {"int": "BIGINT", "float": "DOUBLE", "dec": "DECIMAL(12, 3)", "bool": "BOOLEAN", "timestamp": "TIMESTAMP"}.get(kind)
        columns.append(Column(name, kind, many(rows, make, 0), None, select, f"CAST({quoted(name)} AS {duck})" if duck else quoted(name), unit="epoch_us"))
    form = {
        "FieldDelimiter": rng.choice([",", ";", "|", "\t"]),
        "QuoteCharacter": rng.choice(['"', "'"]),
        "RecordDelimiter": rng.choice(["\n", "\r\n"]),
        "AllowQuotedRecordDelimiter": True,
        "FileHeaderInfo": header,
    }
    form["QuoteEscapeCharacter"] = form["QuoteCharacter"]
    file = io.StringIO(newline="")
    # A line that is empty is no record, and so a column alone is quoted.
    quoting = csv.QUOTE_ALL if len(columns) == 1 or rng.random() < 0.3 else csv.QUOTE_MINIMAL
    writer = csv.writer(file, delimiter=form["FieldDelimiter"], quotechar=form["QuoteCharacter"], lineterminator=form["RecordDelimiter"], quoting=quoting)
    if header != "NONE":
        writer.writerow([one.name for one in columns])
    for row in range(rows):
        writer.writerow([one.values[row] for one in columns])
    body = file.getvalue().encode()
    stored, compression = compressed(body)
    # DuckDB reads what Python wrote from a table: its own reader of CSV has rules of its own for quotes.
    arrow = pa.table([pa.array(one.values, type=pa.string()) for one in columns], names=[one.name for one in columns])
    return Source(f"{at}.csv", stored, {"CSV": form, "CompressionType": compression}, f"csv_{at}", columns, arrow=arrow)


def columns_of(source, *kinds):
    return [one for one in source.columns + source.parts if one.kind in kinds]


def literal(kind):
    if kind == "int":
        value = rng.choice([rng.randint(-60, 60), rng.randint(-SMALL, SMALL)])
        return (str(value), f"({value})::BIGINT")
    if kind == "float":
        value = rng.randint(-400, 400) / 4 + 0.5
        return (f"CAST({value} AS FLOAT)", f"({value})::DOUBLE")
    if kind == "dec":
        value = Decimal(rng.randint(-99_999, 99_999)).scaleb(-rng.randint(0, 3))
        return (f"{value:f}", f"({value:f})::DECIMAL(8, 3)")
    if kind == "bool":
        return (rng.choice(["TRUE", "FALSE"]),) * 2
    return (text_literal(rng.choice(TEXTS)),) * 2


def pair(template, *operands, duck=""):
    return (template.format(*[one[0] for one in operands]), (duck or template).format(*[one[1] for one in operands]))


def plain(column):
    """A column in an expression. A FLOAT of 32 bits is calculated with in 64 bits."""
    if column.kind == "float32":
        return (f"({column.select} + 0)", f"CAST({column.duck} AS DOUBLE)")
    return (column.select, column.duck)


def number(source, kind, depth):
    """A number: an INT, a DECIMAL with few digits, or a FLOAT."""
    kinds = ("float", "float32") if kind == "float" else (kind,)
    usable = [plain(one) for one in columns_of(source, *kinds) if not (one.extreme and one.kind in ("int", "dec", "float"))]
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([literal(kind), *usable * 2])
    one = lambda: number(source, kind, depth - 1)
    operator = rng.choice(["+", "-", "*", "neg", "case", "coalesce", "nullif", *(["/", "%", "length", "date", "cast"] if kind == "int" else ["int"])])
    if operator in "+-":
        return pair("({} " + operator + " {})", one(), one())
    if operator == "*":
        return pair("({} * {})", rng.choice([literal(kind), *usable]), literal(kind)) if kind == "dec" else pair("({} * {})", one(), literal(kind))
    if operator in "/%":
        divisor = rng.choice([-7, -3, 2, 5, 11])
        return pair(f"({{}} {operator} {divisor})", one(), duck="({} " + ("//" if operator == "/" else "%") + f" ({divisor})::BIGINT)")
    if operator == "neg":
        return pair("(- {})", one())
    if operator == "case":
        return pair("CASE WHEN {} THEN {} ELSE {} END", condition(source, depth - 1), one(), one())
    if operator == "length":
        return pair("CHAR_LENGTH({})", text(source, depth - 1), duck="CAST(length({}) AS BIGINT)")
    if operator == "cast":
        return pair("CAST({} AS INT)", number(source, "dec", 0), duck="CAST(trunc({}) AS BIGINT)")
    if operator == "int":
        return pair("({} + {})", one(), number(source, "int", 0))
    if operator == "date":
        dates = columns_of(source, "timestamp", "date")
        if not dates:
            return one()
        date = rng.choice(dates)
        part = rng.choice(["year", "month", "day"] if date.kind == "date" else ["year", "month", "day", "hour", "minute"])
        return (f"EXTRACT({part} FROM {date.select})", f"CAST(date_part('{part}', {date.duck}) AS BIGINT)")
    return pair(f"{operator.upper()}({{}}, {{}})", one(), one())


def text(source, depth):
    usable = [plain(one) for one in columns_of(source, "text")]
    if depth <= 0 or rng.random() < 0.3:
        return rng.choice([literal("text"), *usable * 2])
    one = lambda: text(source, depth - 1)
    operator = rng.choice(["upper", "lower", "||", "substring", "trim", "leading", "trailing", "cast", "case", "coalesce", "date"])
    if operator in ("upper", "lower"):
        return pair(f"{operator.upper()}({{}})", one())
    if operator == "||":
        return pair("({} || {})", one(), one())
    if operator == "substring":
        return pair(f"SUBSTRING({{}}, {rng.randint(1, 6)}, {rng.randint(0, 8)})", one())
    if operator == "trim":
        return pair("TRIM({})", one(), duck="trim({}, ' ')")
    if operator in ("leading", "trailing"):
        return pair(f"TRIM({operator.upper()} 'aA ' FROM {{}})", one(), duck=("ltrim" if operator == "leading" else "rtrim") + "({}, 'aA ')")
    if operator == "cast":
        return pair("CAST({} AS STRING)", number(source, "int", depth - 1), duck="CAST({} AS VARCHAR)")
    if operator == "case":
        return pair("CASE WHEN {} THEN {} END", condition(source, depth - 1), one())
    if operator == "date":
        dates = [date for date in columns_of(source, "timestamp") if not (isinstance(date.arrow, pa.TimestampType) and (date.arrow.tz or date.arrow.unit == "ns"))]
        if not dates:
            return one()
        date = rng.choice(dates)
        return (f"TO_STRING({date.select}, 'yyyy-MM-dd HH:mm:ss')", f"strftime({date.duck}, '%Y-%m-%d %H:%M:%S')")
    return pair("COALESCE({}, {})", one(), one())


def compared(source):
    """Two operands of a comparison that have one type."""
    kind = rng.choice(["int", "dec", "float", "text", "bytes", "date", "timestamp", "time", "extreme", "float32", "mixed"])
    if columns_of(source, "bytes") and rng.random() < 0.3:
        # Few files have bytes.
        kind = "bytes"
    if kind in ("int", "dec", "float"):
        return number(source, kind, 1), number(source, kind, 1)
    if kind == "mixed":
        return number(source, rng.choice(["int", "dec"]), 1), number(source, rng.choice(["int", "dec"]), 0)
    if kind == "text":
        return text(source, 1), text(source, 1)
    if kind == "extreme":
        found = [one for one in columns_of(source, "int", "dec", "float") if one.extreme]
    else:
        found = columns_of(source, kind)
    if not found:
        return text(source, 1), text(source, 0)
    column = rng.choice(found)
    own = (column.select, column.duck)
    values = [one for one in column.values if one is not None]
    # Two columns of one type: DuckDB compares timestamps of two units in the smaller one, and has no room for two large decimals of two scales.
    alike = [one for one in found if one.arrow == column.arrow or one.kind in ("text", "bytes", "date")]
    other = rng.choice([column, *alike])
    same = (other.select, other.duck)
    if kind == "bytes" and rng.random() < 0.7:
        shown = rng.choice(["", "text", "text", "\ufffd", "ü😀"])
        return own, (text_literal(shown), f"unhex('{shown.encode().hex()}')")
    if not values or rng.random() < 0.4 or column.arrow is None:
        return own, same
    if isinstance(column.arrow, str) and kind in ("date", "time", "timestamp"):
        return own, same
    value = rng.choice(values)
    if kind == "extreme" and column.kind == "dec":
        shown = f"{value:f}" if isinstance(value, Decimal) else str(value)
        digits = -value.as_tuple().exponent if isinstance(value, Decimal) else 0
        return own, (shown, f"CAST('{shown}' AS DECIMAL(38, {digits}))")
    if kind == "extreme" and column.kind == "int":
        return own, (str(value), f"CAST('{value}' AS BIGINT)")
    if kind == "extreme":
        return own, (f"CAST('{value!r}' AS FLOAT)", f"CAST('{value!r}' AS DOUBLE)")
    if kind == "float32":
        # The shortest text of the number, as it is shown.
        shown = short32(value)
        return own, (shown, f"CAST('{shown}' AS FLOAT)")
    if kind == "date":
        return own, (f"`{value.isoformat()}T`", f"DATE '{value.isoformat()}'")
    if kind == "time":
        per = {"ms": 1000, "us": 10**6}[column.unit]
        seconds, rest = divmod(value, per)
        shown = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{str(rest).zfill(len(str(per)) - 1)}"
        return own, (f"'{shown}'", f"TIME '{shown}'")
    if kind == "timestamp":
        per = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[column.arrow.unit]
        shown = (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=value // per)).isoformat()
        return own, (f"`{shown}Z`", f"TIMESTAMP{'TZ' if column.arrow.tz else ''} '{shown}{'+00' if column.arrow.tz else ''}'")
    return own, same


def short32(value):
    for digits in range(6, 10):
        shown = f"{value:.{digits}g}"
        if float32(float(shown)) == value:
            break
    return f"{Decimal(shown):f}"


def condition(source, depth):
    bools = [plain(one) for one in columns_of(source, "bool")]
    if bools and rng.random() < 0.15:
        return rng.choice(bools)
    choice = rng.random()
    if depth > 0 and choice < 0.3:
        return pair("({} " + rng.choice(["AND", "OR"]) + " {})", condition(source, depth - 1), condition(source, depth - 1))
    if depth > 0 and choice < 0.4:
        return pair("(NOT {})", condition(source, depth - 1))
    if choice < 0.5:
        column = rng.choice(source.columns)
        return pair(rng.choice(["({} IS NULL)", "({} IS NOT NULL)"]), (column.select, column.duck))
    left, right = compared(source)
    if choice < 0.6:
        return pair(rng.choice(["({} IN ({}, {}))", "({} NOT IN ({}, {}))"]), left, right, left)
    if choice < 0.7:
        return pair(rng.choice(["({} BETWEEN {} AND {})", "({} NOT BETWEEN {} AND {})"]), left, right, right)
    if choice < 0.8:
        pattern = "".join(rng.choice(["%", "_", "a", "A", "!%", "!_", "d", "x", " ", "ü", "😀"]) for _ in range(rng.randint(1, 5)))
        return pair("({} " + rng.choice(["LIKE ", "NOT LIKE "]) + text_literal(pattern) + " ESCAPE '!')", text(source, max(depth - 1, 0)))
    return pair("({} " + rng.choice(["=", "<>", "!=", "<", "<=", ">", ">="]) + " {})", left, right)


def shown_column(column):
    """A column as it is selected, with how its value is compared."""
    duck = column.duck
    if column.kind == "timestamp":
        duck = f"{column.unit}({column.duck})"
    return (column.select, duck), column


class Computed:
    def __init__(self, kind):
        self.kind, self.arrow, self.unit = kind, None, None


def selected(source):
    choice = rng.random()
    if choice < 0.5:
        return shown_column(rng.choice(source.columns + source.parts))
    if choice < 0.7:
        return text(source, 2), Computed("text")
    if choice < 0.8:
        return condition(source, 1), Computed("bool")
    kind = rng.choice(["int", "dec", "float"])
    return number(source, kind, 2), Computed({"float": "near"}.get(kind, kind))


def aggregate(source):
    name = rng.choice(["COUNT", "SUM", "AVG", "MIN", "MAX", "MIN", "MAX"])
    if rng.random() < 0.15:
        return ("COUNT(*)", "COUNT(*)"), Computed("int")
    if name == "COUNT":
        column = rng.choice(source.columns)
        return (f"COUNT({column.select})", f"COUNT({column.duck})"), Computed("int")
    if name in ("MIN", "MAX"):
        found = [one for one in columns_of(source, "int", "dec", "float", "float32", "bytes", "date", "timestamp", "time", "text") if not (one.kind == "text" and one.arrow is None)]
        if found and rng.random() < 0.7:
            column = rng.choice(found)
            inner = f"{name}({column.duck})"
            return (f"{name}({column.select})", f"{column.unit}({inner})" if column.kind == "timestamp" else inner), column
    kind = rng.choice(["int", "dec", "float"])
    argument = number(source, kind, 1)
    result = "near" if kind == "float" or name == "AVG" else kind
    duck = f"{name}({{}})" if name != "AVG" else "AVG({})"
    return pair(f"{name}({{}})", argument, duck=duck), Computed(result)


def query(source):
    where = condition(source, 2) if rng.random() < 0.7 else ("TRUE", "TRUE")
    head = "FROM S3Object[*][*] s" if "DOCUMENT" in json.dumps(source.form) else "FROM S3Object s"
    limit = f" LIMIT {rng.randint(0, 60)}" if rng.random() < 0.3 else ""
    if rng.random() < 0.15 and not source.name.endswith("csv"):
        made = [shown_column(one) for one in source.columns]
        return f"SELECT * {head} WHERE {where[0]}{limit}", ducked(source, made, where, limit), [one for _, one in made], [one.name for one in source.columns]
    is_aggregate = rng.random() < 0.3
    made = [(aggregate if is_aggregate else selected)(source) for _ in range(rng.randint(1, 4))]
    limit = "" if is_aggregate else limit
    listed = ", ".join(f"{one[0]} AS c{index}" for index, (one, _) in enumerate(made))
    return f"SELECT {listed} {head} WHERE {where[0]}{limit}", ducked(source, made, where, limit), [one for _, one in made], [f"c{index}" for index in range(len(made))]


def ducked(source, made, where, limit):
    return f"SELECT {', '.join(f'{one[1]} AS r{index}' for index, (one, _) in enumerate(made))} FROM {source.table} WHERE {where[1]}{limit}"


class Number(str):
    """The text of a number with a point or an exponent."""


class Pairs(list):
    """An object: a list of names and values in their order."""


def parsed(line):
    return json.loads(line, parse_float=Number, parse_int=Number, object_pairs_hook=Pairs)


def nanoseconds(text):
    year, month, date, hour, minute, second, fraction = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?Z", text).groups()
    days = datetime.date(int(year), int(month), int(date)).toordinal() - 719_163
    seconds = days * 86_400 + int(hour) * 3_600 + int(minute) * 60 + int(second)
    return seconds * 10**9 + int((fraction or "").ljust(9, "0"))


def same(column, got, expected):
    if got is None or expected is None:
        return got is None and expected is None
    kind = column.kind
    if kind in ("int", "dec"):
        return isinstance(got, Number) and Decimal(got) == Decimal(expected)
    if kind == "float":
        return isinstance(got, Number) and float(got) == expected
    if kind == "float32":
        return isinstance(got, Number) and float32(float(got)) == float32(expected) and len(got) <= 15
    if kind == "near":
        return isinstance(got, Number) and abs(float(got) - float(expected)) <= 1e-9 * max(1.0, abs(float(expected)))
    if kind == "bytes":
        return base64.b64decode(got, validate=True) == expected
    if kind == "date":
        return got == f"{expected.year:04}-{expected.month:02}-{expected.day:02}T"
    if kind == "time":
        return same_time(got, expected)
    if kind == "timestamp":
        return nanoseconds(got) == expected * (1 if column.unit == "epoch_ns" else 1000)
    if kind == "nested":
        return same_nested(got, expected)
    return type(got) is type(expected) and got == expected


EMPTY = object()


def of_field(field, kind):
    """Returns what a field of CSV is in JSON. NULL and an empty text are an empty field."""
    if field == "":
        return EMPTY
    if kind in ("int", "dec", "float", "float32", "near"):
        return Number(field)
    return {"true": True, "false": False}.get(field, field) if kind == "bool" else field


def is_same(column, got, expected):
    if got is EMPTY:
        return expected is None or expected in ("", b"")
    try:
        return same(column, got, expected)
    except (ArithmeticError, AttributeError, TypeError, ValueError):
        # It has another form, e.g. a text that is not base64.
        return False


def same_time(got, expected):
    return datetime.time.fromisoformat(got[:15]) == expected and not got[15:].strip("0")


def same_nested(got, expected):
    """Compares a value of Parquet or JSON with the one that DuckDB makes of it for Python."""
    if got is None or expected is None:
        return got is None and expected is None
    if isinstance(expected, dict):
        if set(expected) == {"key", "value"} and isinstance(expected["key"], list):
            expected = dict(zip(expected["key"], expected["value"]))
        names = [str(name) for name in expected]
        return isinstance(got, Pairs) and [name for name, _ in got] == names and all(same_nested(a, b) for (_, a), b in zip(got, expected.values()))
    if isinstance(expected, (list, tuple)):
        return isinstance(got, list) and len(got) == len(expected) and all(map(same_nested, got, expected))
    if isinstance(expected, bool) or isinstance(expected, str):
        return type(got) is type(expected) and got == expected
    if isinstance(expected, bytes):
        return base64.b64decode(got, validate=True) == expected
    if isinstance(expected, float):
        return isinstance(got, Number) and (float(got) == expected or float32(float(got)) == expected)
    if isinstance(expected, (int, Decimal)):
        return isinstance(got, Number) and Decimal(got) == Decimal(expected)
    if isinstance(expected, datetime.datetime):
        return nanoseconds(got) == (expected.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1) * 1000
    if isinstance(expected, datetime.date):
        return got == f"{expected.year:04}-{expected.month:02}-{expected.day:02}T"
    if isinstance(expected, datetime.time):
        return same_time(got, expected)
    raise TypeError(f"no comparison for {expected!r}")


def document(name, value):
    if isinstance(value, dict):
        return f"<{name}>{''.join(document(*one) for one in value.items())}</{name}>"
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<{name}>{escape(shown, {chr(13): '&#13;', chr(10): '&#10;', chr(9): '&#9;'})}</{name}>"


class Queries:
    """The program that answers queries."""

    def __init__(self):
        self.process = subprocess.Popen(job["program"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def answer(self, source, select, kinds, names_of):
        """Returns the records of the result, each a list of pairs, or the text of the error."""
        is_csv = rng.random() < 0.2 and not any(one.kind == "nested" for one in kinds)
        asked = {
            "Expression": select, "ExpressionType": "SQL",
            "InputSerialization": source.form, "OutputSerialization": {"CSV": {"QuoteFields": "ALWAYS"}} if is_csv else {"JSON": {}},
        }
        self.process.stdin.write(json.dumps({"path": source.path, "request": document("SelectObjectContentRequest", asked)}) + "\n")
        self.process.stdin.flush()
        got = json.loads(self.process.stdout.readline())
        if "error" in got:
            return got["error"]
        if not is_csv:
            return [parsed(line) for line in got["result"].split("\n") if line]
        lines = list(csv.reader(io.StringIO(got["result"], newline=""), lineterminator="\n"))
        wrong = next((line for line in lines if len(line) != len(names_of)), None)
        if wrong is not None:
            return f"a record of CSV has {len(wrong)} fields: {wrong}"
        return [[(name, of_field(field, one.kind)) for name, field, one in zip(names_of, line, kinds)] for line in lines]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def difference(got, expected, kinds, names_of, is_star):
    """Says how two results differ; None if they do not."""
    if isinstance(got, str) or isinstance(expected, str):
        # Both refuse, e.g. a number that is too large.
        return None if isinstance(got, str) and isinstance(expected, str) else {"got": str(got)[:300], "expected": str(expected)[:300]}
    if len(got) != len(expected):
        return {"got": len(got), "expected": len(expected)}
    for record, values in zip(got, expected):
        # A part that is MISSING has no name in the record.
        found = [name for name, _ in record]
        absent = [] if is_star else [name for name in names_of if name not in found]
        if found != [name for name in names_of if name not in absent]:
            return {"got": record, "expected": names_of}
        shown = dict(record)
        for name, wanted, column in zip(names_of, values, kinds):
            value = shown.get(name)
            if not is_same(column, value, wanted):
                return {"column": name, "kind": column.kind, "type": str(column.arrow), "got": value, "expected": repr(wanted)}
    return None


def main():
    differences, refused, rows = [], 0, 0
    queries = Queries()
    with tempfile.TemporaryDirectory() as folder:
        connection = duckdb.connect()
        connection.execute("SET threads = 1; SET TimeZone = 'UTC'")
        source = None
        for number_of in range(job["queries"]):
            if number_of % 10 == 0:
                source = rng.choice([parquet_source, parquet_source, json_source, csv_source])(folder, number_of)
                source.path = kept(folder, f"stored-{source.name}", source.body)
                if source.arrow is not None:
                    connection.register(source.table, source.arrow)
            select, duck, kinds, names_of = query(source)
            try:
                expected = connection.execute(duck).fetchall()
            except duckdb.Error as error:
                expected = str(error)
            got = queries.answer(source, select, kinds, names_of)
            rows += len(got) if isinstance(got, list) else 0
            refused += isinstance(got, str)
            found = difference(got, expected, kinds, names_of, select.startswith("SELECT *"))
            if found is not None:
                differences.append({"source": source.name, "query": number_of, "form": source.form, "select": select, "duck": duck, "options": source.options, **found})
    queries.end()
    print(json.dumps({"queries": job["queries"], "rows": rows, "refused": refused, "differences": differences[:20], "different": len(differences)}, default=str))


main()
