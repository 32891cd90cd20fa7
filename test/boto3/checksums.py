"""What an application does with the checksums that boto3 computes, with awscrt installed.

Reads its job from standard input as JSON and prints the outcome as JSON; asserts nothing itself.
"""

import json
import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ALGORITHMS = ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256", "SHA512", "XXHASH64", "XXHASH3", "XXHASH128"]


def whole(s3, algorithm: str) -> list:
    """Stores by a header and by a trailer, and reads with the checksum, which boto3 compares where it can."""
    field = f"Checksum{algorithm}"
    values = set()
    for key, body in (("header", b"content"), ("trailer", open(__file__, "rb"))):
        stored = s3.put_object(Bucket="sums", Key=f"{algorithm}/{key}", Body=body, ChecksumAlgorithm=algorithm)
        read = s3.get_object(Bucket="sums", Key=f"{algorithm}/{key}", ChecksumMode="ENABLED")
        length = len(read["Body"].read())
        values.add(read[field] == stored[field] and length == read["ContentLength"])
    return sorted(values)


def parts(s3, algorithm: str) -> list:
    key = f"{algorithm}/parts"
    field = f"Checksum{algorithm}"
    upload = s3.create_multipart_upload(Bucket="sums", Key=key, ChecksumAlgorithm=algorithm)["UploadId"]
    listed = []
    for number, body in ((1, bytes(5 * 2**20)), (2, b"end")):
        part = s3.upload_part(
            Bucket="sums", Key=key, UploadId=upload, PartNumber=number, Body=body, ChecksumAlgorithm=algorithm
        )
        listed.append({"PartNumber": number, "ETag": part["ETag"], field: part[field]})
    done = s3.complete_multipart_upload(Bucket="sums", Key=key, UploadId=upload, MultipartUpload={"Parts": listed})
    attributes = s3.get_object_attributes(Bucket="sums", Key=key, ObjectAttributes=["Checksum", "ObjectParts"])
    checksum = attributes["Checksum"]
    # GetObjectAttributes leaves the count of parts out.
    same = done[field].split("-")[0] == checksum[field].split("-")[0]
    return [same, checksum["ChecksumType"], attributes["ObjectParts"]["TotalPartsCount"]]


def wrong(s3, algorithm: str) -> list:
    value = s3.put_object(Bucket="sums", Key="other", Body=b"other", ChecksumAlgorithm=algorithm)[f"Checksum{algorithm}"]
    try:
        s3.put_object(Bucket="sums", Key="wrong", Body=b"content", **{f"Checksum{algorithm}": value})
        return [200, "no error"]
    except ClientError as error:
        return [error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]]


def main() -> None:
    job = json.load(sys.stdin)
    s3 = boto3.client(
        "s3",
        endpoint_url=job["endpoint"],
        aws_access_key_id=job["accessKey"],
        aws_secret_access_key=job["secretKey"],
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )
    s3.create_bucket(Bucket="sums")
    outcome = {each: [whole(s3, each), parts(s3, each), wrong(s3, each)] for each in ALGORITHMS}
    json.dump(outcome, sys.stdout)


main()
