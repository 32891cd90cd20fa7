"""Presigns by boto3 as it does by default, operation by operation. Reads its job from standard input as JSON, prints URLs by name."""

import json
import sys

import boto3
from botocore.client import Config

job = json.load(sys.stdin)
client = boto3.client(
    "s3",
    endpoint_url=job["endpoint"],
    aws_access_key_id=job["accessKey"],
    aws_secret_access_key=job["secretKey"],
    aws_session_token=job.get("sessionToken"),
    region_name=job.get("region"),
    config=Config(signature_version=job.get("version"), s3={"addressing_style": job.get("style", "auto")}),
)
urls = {}
for name, operation, params in job["operations"]:
    urls[name] = client.generate_presigned_url(operation, Params=params, ExpiresIn=300)
print(json.dumps(urls))
