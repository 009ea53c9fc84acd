"""Runs the SQL of docs/tables.md, whose path is given, in the current folder: a line of JSON for each question."""

import json
import re
import sys

import duckdb

with open(sys.argv[1], encoding="utf-8") as page:
    views, *questions = re.findall(r"```sql\n(.*?)```", page.read(), re.DOTALL)
connection = duckdb.connect()
connection.execute(views)
for question in questions:
    print(json.dumps(connection.execute(question).fetchall()))
