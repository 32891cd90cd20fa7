"""Writes and reads without pause by boto3, all its settings at their defaults but its habits, until its input ends; then prints figures as JSON."""

import json
import os
import sys
import threading
import time

import boto3
from botocore.config import Config

job = json.loads(sys.stdin.readline())
habits = job.get("habits", {})
sizes = habits.get("bodyBytes", [16 * 1024])
retries = {"total_max_attempts": habits["attempts"]} if "attempts" in habits else None
s3 = boto3.client(
    "s3",
    endpoint_url=job["endpoint"],
    region_name="us-east-1",
    aws_access_key_id=job["accessKeyId"],
    aws_secret_access_key=job["secretAccessKey"],
    config=Config(retries=retries),
)
figures = {"requests": 0, "retried": 0, "failures": [], "wrong": 0}
lock = threading.Lock()
stopped = threading.Event()


def call(name, function):
    try:
        answer = function()
        failure = None
    except Exception as error:  # whatever the client gives up with is counted
        answer, failure = None, f"{name}: {error}"
    with lock:
        figures["requests"] += 1
        if failure is not None:
            figures["failures"].append(failure)
        elif answer["ResponseMetadata"]["RetryAttempts"] > 0:
            figures["retried"] += 1
    return answer


def work(worker):
    turn = 0
    while not stopped.is_set():
        key, body = f"python/{worker}/{turn % 50}", os.urandom(sizes[turn % len(sizes)])
        put = call("PutObject", lambda: s3.put_object(Bucket=job["bucket"], Key=key, Body=body))
        got = call("GetObject", lambda: s3.get_object(Bucket=job["bucket"], Key=key))
        if put is not None and got is not None and got["Body"].read() != body:
            with lock:
                figures["wrong"] += 1
        turn += 1
        time.sleep(0.02)


s3.put_object(Bucket=job["bucket"], Key="python/first", Body=b"")
threads = [threading.Thread(target=work, args=(worker,)) for worker in range(job["workers"])]
for thread in threads:
    thread.start()
print("started", flush=True)
sys.stdin.read()
stopped.set()
for thread in threads:
    thread.join()
print(json.dumps(figures), flush=True)
