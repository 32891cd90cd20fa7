"""Random queries by S3 Select and by DuckDB over the same files, which pyarrow writes.

Reads its job from standard input as JSON and prints the outcome as JSON: the number of queries, and those whose results differ.
"""

import bz2
import gzip
import io
import json
import os
import random
import sys
import tempfile

import boto3
import duckdb
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError

job = json.load(sys.stdin)
rng = random.Random(job["seed"])
TEXTS = ["", "a", "Ada", "b,c", 'say "x"', "ünïcode", "100%", "under_score", "tab\there", "  spaces  ", "😀 face", "a" * 200]
MINE = os.urandom(32)


def maybe(value, nulls: bool):
    return None if nulls and rng.random() < 0.15 else value


def row(nulls: bool) -> dict:
    return {
        "i": maybe(rng.randint(-1_000_000, 1_000_000), nulls),
        "j": maybe(rng.randint(-50, 50), nulls),
        "f": maybe(rng.randint(-4_000, 4_000) / 4, nulls),
        "s": maybe(rng.choice(TEXTS), nulls),
        "b": maybe(rng.random() < 0.5, nulls),
        "d": maybe(f"20{rng.randint(0, 40):02}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:07Z", nulls),
    }


def nested(nulls: bool) -> dict:
    inner = {"x": maybe(rng.randint(-9, 9), nulls), "y": maybe(rng.choice(TEXTS), nulls), "z": maybe(rng.randint(-9, 9) / 2, nulls)}
    return {**row(nulls), "n": inner, "l": maybe([rng.randint(0, 9) for _ in range(rng.randint(0, 4))], nulls)}


FLAT = [("i", pa.int64()), ("j", pa.int32()), ("f", pa.float64()), ("s", pa.string()), ("b", pa.bool_()), ("d", pa.string())]
NESTED = [*FLAT, ("n", pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.float64())])), ("l", pa.list_(pa.int64()))]
DUCK = "{i: 'BIGINT', j: 'INTEGER', f: 'DOUBLE', s: 'VARCHAR', b: 'BOOLEAN', d: 'VARCHAR'%s}"
STRUCT = ", n: 'STRUCT(x INTEGER, y VARCHAR, z DOUBLE)', l: 'BIGINT[]'"


class Source:
    """A file with its form for S3 Select, its table for DuckDB, and how a column is written in both."""

    def __init__(self, name: str, body: bytes, form: dict, table: str, has_nested: bool, is_text: bool):
        self.name, self.body, self.form, self.table, self.has_nested, self.is_text = name, body, form, table, has_nested, is_text

    def column(self, name: str, kind: str) -> tuple:
        duck = f"CAST({name} AS BIGINT)" if kind == "int" else name
        if self.is_text and kind != "text":
            return (f"CAST(s.{name} AS {dict(int='INT', float='FLOAT', bool='BOOL')[kind]})", duck)
        return (f"s.{name}", duck)


def columns(source: Source, kind: str) -> list:
    names = {"int": ["i", "j"], "float": ["f"], "text": ["s"], "bool": ["b"]}[kind]
    found = [source.column(name, kind) for name in names]
    if source.has_nested:
        found += {
            "int": [("s.n.x", "CAST(n.x AS BIGINT)"), ("s.l[0]", "l[1]"), ('s."l"[2]', "l[3]")],
            "float": [("s.n.z", "n.z")],
            "text": [("s.n.y", "n.y")],
            "bool": [],
        }[kind]
    return found


def quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def literal(kind: str) -> tuple:
    if kind == "int":
        value = rng.randint(-60, 60)
        return (str(value), f"({value})::BIGINT")
    if kind == "float":
        value = rng.randint(-400, 400) / 4 + 0.5
        return (str(value), f"({value})::DOUBLE")
    if kind == "bool":
        return (rng.choice(["TRUE", "FALSE"]),) * 2
    return (quote(rng.choice(TEXTS)),) * 2


def pair(template: str, *operands: tuple, duck: str = "") -> tuple:
    return (template.format(*[one[0] for one in operands]), (duck or template).format(*[one[1] for one in operands]))


def number(source: Source, depth: int, kind: str) -> tuple:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([literal(kind), *columns(source, kind) * 2])
    one = lambda: number(source, depth - 1, kind)
    operator = rng.choice(["+", "-", "*", "/", "%", "neg", "case", "coalesce", "nullif", "length" if kind == "int" else "+", "date" if kind == "int" else "-"])
    if operator in "+-":
        return pair("({} " + operator + " {})", one(), one())
    if operator == "*":
        return pair("({} * {})", one(), literal(kind))
    if operator in "/%":
        divisor = rng.choice([-7, -3, 2, 5, 11]) if kind == "int" else rng.choice([-2.5, 0.5, 4.25])
        if operator == "%" and kind == "float":
            return one()
        return pair("({} " + operator + f" {divisor})", one(), duck="({} " + ("//" if operator == "/" and kind == "int" else operator) + f" ({divisor})::" + ("BIGINT" if kind == "int" else "DOUBLE") + ")")
    if operator == "neg":
        return pair("(- {})", one())
    if operator == "case":
        return pair("CASE WHEN {} THEN {} ELSE {} END", condition(source, depth - 1), one(), one())
    if operator == "length":
        return pair("CHAR_LENGTH({})", text(source, depth - 1), duck="CAST(length({}) AS BIGINT)")
    if operator == "date":
        part = rng.choice(["year", "month", "day", "hour", "minute", "second"])
        date = ("TO_TIMESTAMP(s.d)", "CAST(d AS TIMESTAMP)")
        if rng.random() < 0.5:
            return pair(f"EXTRACT({part} FROM {{}})", date, duck=f"CAST(date_part('{part}', {{}}) AS BIGINT)")
        part = rng.choice(["day", "hour", "minute", "second"])
        return pair(f"DATE_DIFF({part}, {{}}, `2020-06-05T04:03:02Z`)", date, duck=f"date_sub('{part}', {{}}, TIMESTAMP '2020-06-05 04:03:02')")
    return pair(f"{operator.upper()}({{}}, {{}})", one(), one())


def text(source: Source, depth: int) -> tuple:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([literal("text"), *columns(source, "text") * 2])
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
        return pair("CAST({} AS STRING)", number(source, depth - 1, "int"), duck="CAST({} AS VARCHAR)")
    if operator == "case":
        return pair("CASE WHEN {} THEN {} END", condition(source, depth - 1), one())
    if operator == "date":
        days = rng.randint(-400, 400)
        date = ("TO_TIMESTAMP(s.d)", "CAST(d AS TIMESTAMP)")
        return pair(f"TO_STRING(DATE_ADD(day, {days}, {{}}), 'yyyy-MM-dd HH:mm:ss')", date, duck=f"strftime({{}} + INTERVAL ({days}) DAY, '%Y-%m-%d %H:%M:%S')")
    return pair("COALESCE({}, {})", one(), one())


def condition(source: Source, depth: int) -> tuple:
    if depth <= 0 and rng.random() < 0.2:
        return rng.choice(columns(source, "bool"))
    choice = rng.random()
    if depth > 0 and choice < 0.35:
        word = rng.choice(["AND", "OR"])
        return pair("({} " + word + " {})", condition(source, depth - 1), condition(source, depth - 1))
    if depth > 0 and choice < 0.45:
        return pair("(NOT {})", condition(source, depth - 1))
    kind = rng.choice(["int", "float", "text"])
    make = lambda: text(source, depth - 1 if depth > 0 else 0) if kind == "text" else number(source, depth - 1 if depth > 0 else 0, kind)
    if choice < 0.55:
        return pair(rng.choice(["({} IS NULL)", "({} IS NOT NULL)"]), make())
    if choice < 0.65:
        return pair(rng.choice(["({} IN ({}, {}))", "({} NOT IN ({}, {}))"]), make(), literal(kind), make())
    if choice < 0.75:
        return pair(rng.choice(["({} BETWEEN {} AND {})", "({} NOT BETWEEN {} AND {})"]), make(), make(), make())
    if choice < 0.85:
        pattern = "".join(rng.choice(["%", "_", "a", "A", "!%", "!_", "d", "x", " "]) for _ in range(rng.randint(1, 5)))
        return pair("({} " + rng.choice(["LIKE ", "NOT LIKE "]) + quote(pattern) + " ESCAPE '!')", text(source, max(depth - 1, 0)))
    return pair("({} " + rng.choice(["=", "<>", "!=", "<", "<=", ">", ">="]) + " {})", make(), make())


def query(source: Source) -> tuple:
    where = condition(source, 2) if rng.random() < 0.7 else ("TRUE", "TRUE")
    count = rng.randint(1, 4)
    if rng.random() < 0.35:
        made = []
        for _ in range(count):
            name, kind = rng.choice(["COUNT", "SUM", "AVG", "MIN", "MAX"]), rng.choice(["int", "float"])
            made.append(("COUNT(*)", "COUNT(*)") if rng.random() < 0.2 else pair(f"{name}({{}})", number(source, 2, kind)))
        limit = ""
    else:
        kinds = [rng.choice(["int", "float", "text", "bool"]) for _ in range(count)]
        made = [text(source, 2) if kind == "text" else condition(source, 2) if kind == "bool" else number(source, 2, kind) for kind in kinds]
        limit = f" LIMIT {rng.randint(0, 60)}" if rng.random() < 0.4 else ""
    listed = lambda at: ", ".join(f"{one[at]} AS c{index}" for index, one in enumerate(made))
    head = "FROM S3Object[*][*] s" if "DOCUMENT" in json.dumps(source.form) else "FROM S3Object s"
    return (f"SELECT {listed(0)} {head} WHERE {where[0]}{limit}", f"SELECT {listed(1)} FROM {source.table} WHERE {where[1]}{limit}", count)


def plain(value):
    if value is None or isinstance(value, (bool, str, int)):
        return value
    return float(value)


def same(left, right) -> bool:
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None or isinstance(left, str):
        return left == right
    if isinstance(right, str):
        return False
    return abs(left - right) <= 1e-9 * max(1.0, abs(left), abs(right))


def sources(folder: str) -> list:
    rows = [row(False) for _ in range(job["rows"])]
    with_nulls = [nested(True) for _ in range(job["rows"])]
    found = []

    def kept(name: str, body: bytes) -> str:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(body)
        return path

    text_file = io.BytesIO()
    csv.write_csv(pa.Table.from_pylist(rows, schema=pa.schema(FLAT)), text_file)
    path = kept("flat.csv", text_file.getvalue())
    table = f"read_csv('{path}', header=true, columns={DUCK % ''}, quote='\"', escape='\"', nullstr='never')"
    form = {"CSV": {"FileHeaderInfo": "USE", "AllowQuotedRecordDelimiter": True}}
    zstd = pa.Codec("zstd").compress(text_file.getvalue(), asbytes=True)
    for name, body, kind in [
        ("csv", text_file.getvalue(), "NONE"),
        ("csv.gz", gzip.compress(text_file.getvalue()), "GZIP"),
        ("csv.bz2", bz2.compress(text_file.getvalue()), "BZIP2"),
        ("csv.zst", zstd, "ZSTD"),
    ]:
        found.append(Source(name, body, {**form, "CompressionType": kind}, table, False, True))

    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in with_nulls).encode()
    table = f"read_json('{kept('nested.json', lines)}', format='newline_delimited', columns={DUCK % STRUCT})"
    found.append(Source("json", lines, {"JSON": {"Type": "LINES"}}, table, True, False))
    found.append(Source("json.gz", gzip.compress(lines), {"JSON": {"Type": "LINES"}, "CompressionType": "GZIP"}, table, True, False))
    found.append(Source("document", json.dumps(with_nulls, indent=1).encode(), {"JSON": {"Type": "DOCUMENT"}}, table, True, False))

    arrow = pa.Table.from_pylist(with_nulls, schema=pa.schema(NESTED))
    for name, more in {
        "snappy": {"compression": "snappy"},
        "zstd": {"compression": "zstd", "row_group_size": 700},
        "gzip": {"compression": "gzip", "use_dictionary": False},
        "none": {"compression": "none", "data_page_version": "2.0", "data_page_size": 2_000},
        "brotli": {"compression": "brotli", "use_dictionary": ["s"]},
    }.items():
        file = io.BytesIO()
        parquet.write_table(arrow, file, **more)
        path = kept(f"{name}.parquet", file.getvalue())
        found.append(Source(f"parquet.{name}", file.getvalue(), {"Parquet": {}}, f"read_parquet('{path}')", True, False))
    return found


def client():
    config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 0}, region_name="us-east-1")
    secret = {"aws_access_key_id": job["accessKey"], "aws_secret_access_key": job["secretKey"]}
    return boto3.client("s3", endpoint_url=job["endpoint"], verify=job["authority"], config=config, **secret)


def upload(s3, source: Source, index: int) -> dict:
    """Stores the objects encrypted in turn, and half of them as a version that another one follows."""
    modes = [{}, {"ServerSideEncryption": "AES256"}, {"ServerSideEncryption": "aws:kms"}, {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": MINE}]
    mode = modes[index % 4]
    put = s3.put_object(Bucket="select", Key=source.name, Body=source.body, **mode)
    customer = {name: value for name, value in mode.items() if "Customer" in name}
    if index % 2 == 0:
        return {"customer": customer, "version": None}
    s3.put_object(Bucket="select", Key=source.name, Body=b"newer", **mode)
    return {"customer": customer, "version": put["VersionId"]}


def main() -> None:
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        s3 = client()
        s3.create_bucket(Bucket="select")
        s3.put_bucket_versioning(Bucket="select", VersioningConfiguration={"Status": "Enabled"})
        asked = {}
        # boto3 has no parameter for the version.
        s3.meta.events.register("before-call.s3.SelectObjectContent", lambda params, **_: params.update(url=params["url"] + asked["version"]))
        connection = duckdb.connect()
        connection.execute("SET threads = 1")
        all_sources = sources(folder)
        stored = [upload(s3, source, index) for index, source in enumerate(all_sources)]
        rows = 0
        for number_of in range(job["queries"]):
            at = number_of % len(all_sources)
            source, where = all_sources[at], stored[at]
            select, duck, count = query(source)
            expected = [[plain(value) for value in one] for one in connection.execute(duck).fetchall()]
            asked["version"] = f"&versionId={where['version']}" if where["version"] else ""
            try:
                answer = s3.select_object_content(
                    Bucket="select", Key=source.name, Expression=select, ExpressionType="SQL",
                    InputSerialization=source.form, OutputSerialization={"JSON": {}}, **where["customer"],
                )
                events = list(answer["Payload"])
                body = b"".join(event["Records"]["Payload"] for event in events if "Records" in event).decode()
                got = [[one.get(f"c{index}") for index in range(count)] for one in map(json.loads, body.splitlines())]
                complete = "End" in events[-1]
            except (ClientError, EventStreamError) as error:
                got, complete = [[str(error)]], False
            rows += len(got)
            matches = len(got) == len(expected) and all(same(a, b) for x, y in zip(got, expected) for a, b in zip(x, y))
            if not matches or not complete:
                first = next((index for index, (x, y) in enumerate(zip(got, expected)) if not all(map(same, x, y))), None)
                shown = [got[first], expected[first]] if first is not None else [len(got), len(expected), got[:1]]
                differences.append({"source": source.name, "select": select, "duck": duck, "first": shown})
    print(json.dumps({"queries": job["queries"], "rows": rows, "differences": differences[:20], "different": len(differences)}))


main()
