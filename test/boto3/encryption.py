"""What an application does with boto3 and encryption: keys of its own (SSE-C), keys of the key service, copies between them.

Reads its job from standard input as JSON and prints the outcome as JSON; asserts nothing itself.
"""

import io
import json
import os
import sys

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

MINE, OTHER = os.urandom(32), os.urandom(32)
TEXT = b"for my eyes only"
LARGE = os.urandom(20 * 2**20)
PARTS = TransferConfig(multipart_threshold=5 * 2**20, multipart_chunksize=5 * 2**20)


def sse_c(key: bytes) -> dict:
    return {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": key}


def source_c(key: bytes) -> dict:
    return {"CopySourceSSECustomerAlgorithm": "AES256", "CopySourceSSECustomerKey": key}


def refusal(call, **arguments) -> list:
    try:
        call(**arguments)
    except ClientError as error:
        return [error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]]
    return ["allowed"]


def told(answer: dict) -> dict:
    names = ["ServerSideEncryption", "SSEKMSKeyId", "BucketKeyEnabled", "SSECustomerAlgorithm"]
    return {name: answer[name] for name in names if name in answer}


def customer_keys(s3, bucket: str) -> dict:
    at = {"Bucket": bucket, "Key": "c/text"}
    put = s3.put_object(**at, Body=TEXT, **sse_c(MINE))
    got = s3.get_object(**at, **sse_c(MINE))
    outcome = {"put": told(put), "got": told(got), "whole": got["Body"].read() == TEXT}
    outcome["range"] = s3.get_object(**at, Range="bytes=4-5", **sse_c(MINE))["Body"].read().decode()
    outcome["size"] = s3.head_object(**at, **sse_c(MINE))["ContentLength"]
    for name, key in {"without": {}, "other": sse_c(OTHER)}.items():
        outcome[name] = [refusal(s3.get_object, **at, **key), refusal(s3.head_object, **at, **key)]
    s3.upload_fileobj(io.BytesIO(LARGE), bucket, "c/large", ExtraArgs=sse_c(MINE), Config=PARTS)
    back = io.BytesIO()
    s3.download_fileobj(bucket, "c/large", back, ExtraArgs=sse_c(MINE), Config=PARTS)
    outcome["large"] = back.getvalue() == LARGE
    across = {"Bucket": bucket, "Key": "c/large", "Range": f"bytes={5 * 2**20 - 3}-{5 * 2**20 + 70000}"}
    outcome["acrossParts"] = s3.get_object(**across, **sse_c(MINE))["Body"].read() == LARGE[5 * 2**20 - 3 : 5 * 2**20 + 70001]
    return outcome


def multipart(s3, bucket: str) -> dict:
    """By hand: parts under a key of the client, one of them a copy of an object under another."""
    at = {"Bucket": bucket, "Key": "c/parts"}
    s3.put_object(Bucket=bucket, Key="c/piece", Body=TEXT, **sse_c(OTHER))
    upload = s3.create_multipart_upload(**at, **sse_c(MINE))
    part = {**at, "UploadId": upload["UploadId"]}
    first = s3.upload_part(**part, PartNumber=1, Body=LARGE[: 5 * 2**20], **sse_c(MINE))
    outcome = {"begun": told(upload), "part": told(first)}
    outcome["refused"] = refusal(s3.upload_part, **part, PartNumber=2, Body=b"x", **sse_c(OTHER))
    source = {"Bucket": bucket, "Key": "c/piece"}
    copy = s3.upload_part_copy(**part, PartNumber=2, CopySource=source, **source_c(OTHER), **sse_c(MINE))
    etags = [first["ETag"], copy["CopyPartResult"]["ETag"]]
    parts = [{"PartNumber": number + 1, "ETag": etag} for number, etag in enumerate(etags)]
    s3.complete_multipart_upload(**part, MultipartUpload={"Parts": parts})
    outcome["whole"] = s3.get_object(**at, **sse_c(MINE))["Body"].read() == LARGE[: 5 * 2**20] + TEXT
    return outcome


def service_keys(s3, bucket: str) -> dict:
    asked = {
        "s3": {"ServerSideEncryption": "AES256"},
        "kms": {"ServerSideEncryption": "aws:kms"},
        "named": {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "team-key", "BucketKeyEnabled": True},
        "context": {"ServerSideEncryption": "aws:kms", "SSEKMSEncryptionContext": "eyJ0ZWFtIjoicmVkIn0="},
    }
    outcome: dict = {}
    for name, arguments in asked.items():
        at = {"Bucket": bucket, "Key": f"service/{name}"}
        put = s3.put_object(**at, Body=TEXT, **arguments)
        got = s3.get_object(**at)
        outcome[name] = [told(put), told(got), got["Body"].read() == TEXT]
    # Its transfers take no BucketKeyEnabled.
    extra = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "team-key"}
    s3.upload_fileobj(io.BytesIO(LARGE), bucket, "service/large", ExtraArgs=extra, Config=PARTS)
    back = io.BytesIO()
    s3.download_fileobj(bucket, "service/large", back, Config=PARTS)
    outcome["large"] = [told(s3.head_object(Bucket=bucket, Key="service/large")), back.getvalue() == LARGE]
    unknown = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "no-key"}
    outcome["unknown"] = refusal(s3.put_object, Bucket=bucket, Key="service/unknown", Body=b"", **unknown)
    return outcome


def copies(s3, bucket: str) -> dict:
    """From each kind to each other one, and to itself."""
    kinds = {
        "plain": {},
        "s3": {"ServerSideEncryption": "AES256"},
        "kms": {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "team-key"},
        "mine": sse_c(MINE),
        "other": sse_c(OTHER),
    }
    source_keys = {"mine": source_c(MINE), "other": source_c(OTHER)}
    outcome: dict = {}
    for kind, arguments in kinds.items():
        s3.put_object(Bucket=bucket, Key=f"copies/{kind}", Body=TEXT, **arguments)
    for origin in kinds:
        for kind, arguments in kinds.items():
            key = f"copies/{origin}-{kind}"
            source = {"Bucket": bucket, "Key": f"copies/{origin}"}
            copied = s3.copy_object(Bucket=bucket, Key=key, CopySource=source, **source_keys.get(origin, {}), **arguments)
            got = s3.get_object(Bucket=bucket, Key=key, **(arguments if kind in source_keys else {}))
            same = got["Body"].read() == TEXT
            outcome[f"{origin}-{kind}"] = [told(copied) == told(got), told(got).get("SSECustomerAlgorithm") is not None, same]
    source = {"Bucket": bucket, "Key": "copies/mine"}
    outcome["withoutKey"] = refusal(s3.copy_object, Bucket=bucket, Key="copies/x", CopySource=source)
    outcome["otherKey"] = refusal(s3.copy_object, Bucket=bucket, Key="copies/x", CopySource=source, **source_c(OTHER))
    # What boto3's own transfers do with an object that is larger than a part.
    s3.copy(
        {"Bucket": bucket, "Key": "c/large"},
        bucket,
        "copies/large",
        ExtraArgs={**source_c(MINE), **sse_c(OTHER)},
        Config=PARTS,
    )
    outcome["large"] = s3.get_object(Bucket=bucket, Key="copies/large", **sse_c(OTHER))["Body"].read() == LARGE
    return outcome


def defaults(s3, bucket: str) -> dict:
    rule = {
        "ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "team-key"},
        "BucketKeyEnabled": True,
        "BlockedEncryptionTypes": {"EncryptionType": ["SSE-C"]},
    }
    s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": [rule]})
    read = s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]
    outcome = {"same": read == [rule], "put": told(s3.put_object(Bucket=bucket, Key="default", Body=TEXT))}
    outcome["blocked"] = refusal(s3.put_object, Bucket=bucket, Key="blocked", Body=TEXT, **sse_c(MINE))
    outcome["blockedUpload"] = refusal(s3.create_multipart_upload, Bucket=bucket, Key="blocked", **sse_c(MINE))
    outcome["before"] = s3.get_object(Bucket=bucket, Key="c/text", **sse_c(MINE))["Body"].read() == TEXT
    s3.delete_bucket_encryption(Bucket=bucket)
    outcome["after"] = refusal(s3.put_object, Bucket=bucket, Key="blocked", Body=TEXT, **sse_c(MINE))
    return outcome


def main() -> None:
    job = json.load(sys.stdin)
    s3 = boto3.client(
        "s3",
        aws_access_key_id=job["accessKey"],
        aws_secret_access_key=job["secretKey"],
        endpoint_url=job["endpoint"],
        region_name="us-east-1",
        verify=job["authority"],
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )
    bucket = "encrypted"
    s3.create_bucket(Bucket=bucket)
    steps = [customer_keys, multipart, service_keys, copies, defaults]
    json.dump({step.__name__: step(s3, bucket) for step in steps}, sys.stdout)


main()
