"""Uses a bucket of virtual-host style by boto3. Names are resolved to 127.0.0.1. Reads its job from standard input, prints the outcome as JSON."""

import json
import socket
import sys

import boto3
from botocore.client import Config

job = json.load(sys.stdin)
asked = []
resolve = socket.getaddrinfo


def to_loopback(host, *rest, **more):
    asked.append(host)
    return resolve("127.0.0.1", *rest, **more)


socket.getaddrinfo = to_loopback
outcome = {}
for version in ("s3v4", "s3"):
    client = boto3.client(
        "s3",
        endpoint_url=job["endpoint"],
        aws_access_key_id=job["accessKey"],
        aws_secret_access_key=job["secretKey"],
        region_name="us-east-1",
        verify=job["caFile"],
        config=Config(signature_version=version, s3={"addressing_style": "virtual"}, retries={"total_max_attempts": 1}),
    )
    bucket = "by-boto3-" + version
    client.create_bucket(Bucket=bucket)
    client.put_object(Bucket=bucket, Key="minio/admin/a b+ü", Body=b"content", Metadata={"a": "b"})
    client.copy_object(Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": "minio/admin/a b+ü"})
    keys = [entry["Key"] for entry in client.list_objects_v2(Bucket=bucket)["Contents"]]
    body = client.get_object(Bucket=bucket, Key="copy")["Body"].read().decode()
    url = client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "copy"})
    client.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})
    tags = client.get_bucket_tagging(Bucket=bucket)["TagSet"]
    outcome[version] = {"keys": keys, "body": body, "url": url, "tags": tags}
outcome["hosts"] = sorted(set(asked))
print(json.dumps(outcome))
