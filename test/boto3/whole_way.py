"""What an application does with boto3: buckets, encryption by default, small and large objects, listing, web identity.

Reads its job from standard input as JSON and prints the outcome as JSON; asserts nothing itself.
"""

import hashlib
import io
import json
import sys

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError


def main() -> None:
    job = json.load(sys.stdin)
    keys = {"aws_access_key_id": job["accessKey"], "aws_secret_access_key": job["secretKey"]}
    common = {"endpoint_url": job["endpoint"], "region_name": "us-east-1", "config": Config(signature_version="s3v4", s3={"addressing_style": "path"})}
    s3 = boto3.client("s3", **keys, **common)
    bucket = job["bucket"]
    outcome: dict = {}

    s3.create_bucket(Bucket=bucket)
    if job.get("encryption"):
        rule = {"ApplyServerSideEncryptionByDefault": job["encryption"]}
        s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": [rule]})

    bodies = {"empty": b"", "one": b"1", "five": bytes(range(256)) * (5 * 2**20 // 256)}
    for name, body in bodies.items():
        s3.put_object(Bucket=bucket, Key=f"sizes/{name}", Body=body)
    large = (b"0123456789abcdef" * 65536) * 100
    s3.upload_fileobj(io.BytesIO(large), bucket, "sizes/large", Config=TransferConfig(multipart_chunksize=16 * 2**20))
    bodies["large"] = large

    outcome["whole"] = {}
    for name, body in bodies.items():
        answer = s3.get_object(Bucket=bucket, Key=f"sizes/{name}")
        same = hashlib.sha256(answer["Body"].read()).digest() == hashlib.sha256(body).digest()
        outcome["whole"][name] = [same, answer.get("ServerSideEncryption")]
    part = s3.get_object(Bucket=bucket, Key="sizes/five", Range="bytes=65530-65545")
    outcome["range"] = part["Body"].read() == bodies["five"][65530:65546]

    s3.put_object(Bucket=bucket, Key="top", Body=b"top")
    listing = s3.list_objects_v2(Bucket=bucket, Delimiter="/")
    outcome["keys"] = [entry["Key"] for entry in listing.get("Contents", [])]
    outcome["prefixes"] = [entry["Prefix"] for entry in listing.get("CommonPrefixes", [])]
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, PaginationConfig={"PageSize": 2})
    outcome["paged"] = [entry["Key"] for page in pages for entry in page.get("Contents", [])]

    url = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "top"}, ExpiresIn=60)
    outcome["presigned"] = url
    # By version 4, and by what boto3 chooses for an endpoint of its user.
    plain = boto3.client("s3", **keys, endpoint_url=job["endpoint"], region_name="us-east-1")
    outcome["forms"] = [
        client.generate_presigned_post(
            bucket,
            "forms/${filename}",
            Fields={"acl": "private", "x-amz-meta-from": "boto3", "success_action_status": "201"},
            Conditions=[{"acl": "private"}, ["starts-with", "$x-amz-meta-from", ""], {"success_action_status": "201"}, ["content-length-range", 1, 10]],
            ExpiresIn=60,
        )
        for client in (s3, plain)
    ]
    try:
        s3.get_object(Bucket=bucket, Key="absent")
    except ClientError as error:
        outcome["absent"] = error.response["Error"]["Code"]

    deleted = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "top"}, {"Key": "never-there"}]})
    outcome["deleted"] = sorted(entry["Key"] for entry in deleted["Deleted"])

    if job.get("token"):
        sts = boto3.client("sts", **common, aws_access_key_id="x", aws_secret_access_key="x")
        answer = sts.assume_role_with_web_identity(
            RoleArn="arn:aws:iam::123456789012:role/any", RoleSessionName="boto3", WebIdentityToken=job["token"]
        )["Credentials"]
        person = boto3.client(
            "s3",
            **common,
            aws_access_key_id=answer["AccessKeyId"],
            aws_secret_access_key=answer["SecretAccessKey"],
            aws_session_token=answer["SessionToken"],
        )
        outcome["personReads"] = person.get_object(Bucket=bucket, Key="sizes/one")["Body"].read().decode()
        try:
            person.put_object(Bucket=bucket, Key="refused", Body=b"")
            outcome["personWrites"] = "allowed"
        except ClientError as error:
            outcome["personWrites"] = error.response["Error"]["Code"]

    json.dump(outcome, sys.stdout)


main()
