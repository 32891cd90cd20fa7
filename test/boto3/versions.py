"""What an application does with boto3 on a bucket with versions, object lock and tags.

Reads its job from standard input as JSON and prints the outcome as JSON; asserts nothing itself.
"""

import io
import json
import sys
from datetime import datetime, timedelta, timezone

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError


def refusal(call, **arguments) -> list:
    """The status and the code of a refused call."""
    try:
        call(**arguments)
        return [200, "no error"]
    except ClientError as error:
        return [error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]]


def text(answer: dict) -> str:
    return answer["Body"].read().decode()


def versions(s3, bucket: str) -> dict:
    outcome: dict = {}
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    outcome["status"] = s3.get_bucket_versioning(Bucket=bucket)["Status"]
    first = s3.put_object(Bucket=bucket, Key="key", Body=b"first")["VersionId"]
    second = s3.put_object(Bucket=bucket, Key="key", Body=b"second")["VersionId"]
    outcome["first"] = text(s3.get_object(Bucket=bucket, Key="key", VersionId=first))
    outcome["current"] = s3.head_object(Bucket=bucket, Key="key")["VersionId"] == second
    marker = s3.delete_object(Bucket=bucket, Key="key")
    outcome["marker"] = marker["DeleteMarker"]
    outcome["hidden"] = refusal(s3.get_object, Bucket=bucket, Key="key")
    outcome["marker read"] = refusal(s3.get_object, Bucket=bucket, Key="key", VersionId=marker["VersionId"])
    outcome["bad version"] = refusal(s3.get_object, Bucket=bucket, Key="key", VersionId="none")
    outcome["no version"] = refusal(s3.get_object, Bucket=bucket, Key="key", VersionId="0" * 32)
    s3.delete_object(Bucket=bucket, Key="key", VersionId=marker["VersionId"])
    outcome["shown again"] = text(s3.get_object(Bucket=bucket, Key="key"))
    source = {"Bucket": bucket, "Key": "key", "VersionId": first}
    copied = s3.copy_object(Bucket=bucket, Key="key", CopySource=source)
    outcome["copied from"] = copied["CopySourceVersionId"] == first
    # Two parts at least: a body of an upload moves to the noncurrent versions, and is read there.
    large = bytes(range(256)) * (12 * 2**20 // 256)
    config = TransferConfig(multipart_threshold=5 * 2**20, multipart_chunksize=5 * 2**20)
    s3.upload_fileobj(io.BytesIO(large), bucket, "parts", Config=config)
    uploaded = s3.head_object(Bucket=bucket, Key="parts")["VersionId"]
    s3.put_object(Bucket=bucket, Key="parts", Body=b"small")
    outcome["parts"] = s3.get_object(Bucket=bucket, Key="parts", VersionId=uploaded)["Body"].read() == large
    part = s3.get_object(Bucket=bucket, Key="parts", VersionId=uploaded, PartNumber=2)
    outcome["part"] = [part["PartsCount"], part["ContentLength"], part["Body"].read() == large[5 * 2**20 : 10 * 2**20]]
    attributes = s3.get_object_attributes(
        Bucket=bucket,
        Key="parts",
        VersionId=uploaded,
        ObjectAttributes=["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"],
    )
    outcome["attributes"] = [
        attributes["ObjectSize"],
        attributes["StorageClass"],
        attributes["ObjectParts"]["TotalPartsCount"],
        attributes["Checksum"].get("ChecksumType"),
        attributes["VersionId"] == uploaded,
    ]
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"})
    s3.put_object(Bucket=bucket, Key="key", Body=b"null")
    outcome["suspended"] = text(s3.get_object(Bucket=bucket, Key="key", VersionId="null"))
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    pages = s3.get_paginator("list_object_versions").paginate(Bucket=bucket, PaginationConfig={"PageSize": 2})
    outcome["paged"] = [[entry["Key"], entry["IsLatest"]] for page in pages for entry in page.get("Versions", [])]
    return outcome


def conditions(s3, bucket: str) -> dict:
    outcome: dict = {}
    here = {"Bucket": bucket, "Key": "conditions"}
    outcome["match of none"] = refusal(s3.put_object, **here, Body=b"x", IfMatch='"0"')
    etag = s3.put_object(**here, Body=b"one", IfNoneMatch="*")["ETag"]
    outcome["there"] = refusal(s3.put_object, **here, Body=b"x", IfNoneMatch="*")
    outcome["other"] = refusal(s3.put_object, **here, Body=b"x", IfMatch='"0"')
    second = s3.put_object(**here, Body=b"two", IfMatch=etag)["ETag"]
    outcome["read"] = refusal(s3.get_object, **here, IfNoneMatch=second)
    outcome["since"] = refusal(s3.get_object, **here, IfUnmodifiedSince=datetime(2001, 1, 1))
    source = {"Bucket": bucket, "Key": "conditions"}
    other = {"Bucket": bucket, "Key": "other"}
    outcome["copy source"] = refusal(s3.copy_object, **other, CopySource=source, CopySourceIfMatch=etag)
    outcome["delete other"] = refusal(s3.delete_object, **here, IfMatch=etag)
    upload = s3.create_multipart_upload(**here)["UploadId"]
    part = s3.upload_part(**here, UploadId=upload, PartNumber=1, Body=b"part")["ETag"]
    complete = {**here, "UploadId": upload, "MultipartUpload": {"Parts": [{"PartNumber": 1, "ETag": part}]}}
    outcome["complete"] = refusal(s3.complete_multipart_upload, **complete, IfNoneMatch="*")
    outcome["completed"] = s3.complete_multipart_upload(**complete, IfMatch=second)["VersionId"] != ""
    last = s3.head_object(**here)["ETag"]
    outcome["deleted"] = s3.delete_object(**here, IfMatch=last)["DeleteMarker"]
    return outcome


def tags(s3, bucket: str) -> dict:
    outcome: dict = {}
    here = {"Bucket": bucket, "Key": "tags"}
    first = s3.put_object(**here, Body=b"x", Tagging="team=red&empty=")["VersionId"]
    s3.put_object(**here, Body=b"y")
    s3.put_object_tagging(**here, Tagging={"TagSet": [{"Key": "größe", "Value": "a b"}]})
    outcome["current"] = s3.get_object_tagging(**here)["TagSet"]
    outcome["first"] = s3.get_object_tagging(**here, VersionId=first)["TagSet"]
    outcome["count"] = s3.head_object(**here, VersionId=first)["TagCount"]
    many = {"TagSet": [{"Key": f"k{at}", "Value": ""} for at in range(11)]}
    outcome["many"] = refusal(s3.put_object_tagging, **here, Tagging=many)
    twice = {"TagSet": [{"Key": "k", "Value": "1"}, {"Key": "k", "Value": "2"}]}
    outcome["twice"] = refusal(s3.put_object_tagging, **here, Tagging=twice)
    source = {"CopySource": {**here, "VersionId": first}, "Bucket": bucket, "Key": "copy"}
    s3.copy_object(**source)
    outcome["copied"] = s3.get_object_tagging(Bucket=bucket, Key="copy")["TagSet"]
    s3.copy_object(**source, TaggingDirective="REPLACE", Tagging="b=2")
    outcome["replaced"] = s3.get_object_tagging(Bucket=bucket, Key="copy")["TagSet"]
    s3.delete_object_tagging(**here, VersionId=first)
    outcome["removed"] = s3.get_object_tagging(**here, VersionId=first)["TagSet"]
    return outcome


def lock(s3, bucket: str) -> dict:
    outcome: dict = {}
    s3.create_bucket(Bucket=bucket, ObjectLockEnabledForBucket=True)
    outcome["versioning"] = s3.get_bucket_versioning(Bucket=bucket)["Status"]
    suspended = {"Status": "Suspended"}
    outcome["suspend"] = refusal(s3.put_bucket_versioning, Bucket=bucket, VersioningConfiguration=suspended)
    until = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=1)
    here = {"Bucket": bucket, "Key": "kept"}
    kept = s3.put_object(**here, Body=b"x", ObjectLockMode="GOVERNANCE", ObjectLockRetainUntilDate=until)
    version = {**here, "VersionId": kept["VersionId"]}
    head = s3.head_object(**version)
    outcome["head"] = [head["ObjectLockMode"], head["ObjectLockRetainUntilDate"] == until]
    outcome["delete"] = refusal(s3.delete_object, **version)
    shorter = {"Mode": "GOVERNANCE", "RetainUntilDate": until - timedelta(hours=1)}
    outcome["shorten"] = refusal(s3.put_object_retention, **version, Retention=shorter)
    s3.put_object_retention(**version, Retention=shorter, BypassGovernanceRetention=True)
    outcome["shortened"] = s3.get_object_retention(**version)["Retention"]["RetainUntilDate"] < until
    s3.put_object_legal_hold(**version, LegalHold={"Status": "ON"})
    outcome["held"] = refusal(s3.delete_object, **version, BypassGovernanceRetention=True)
    s3.put_object_legal_hold(**version, LegalHold={"Status": "OFF"})
    outcome["hold"] = s3.get_object_legal_hold(**version)["LegalHold"]["Status"]
    marker = s3.delete_object(**here)
    outcome["marker on top"] = marker["DeleteMarker"]
    several = {"Objects": [{"Key": "kept", "VersionId": each} for each in (kept["VersionId"], marker["VersionId"])]}
    answer = s3.delete_objects(Bucket=bucket, Delete=several)
    outcome["several"] = [[each["Code"] for each in answer["Errors"]], [each["DeleteMarker"] for each in answer["Deleted"]]]
    answer = s3.delete_objects(Bucket=bucket, Delete={**several, "Quiet": True}, BypassGovernanceRetention=True)
    outcome["bypassed"] = ["Errors" in answer, "Deleted" in answer]
    rule = {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 1}}
    configuration = {"ObjectLockEnabled": "Enabled", "Rule": rule}
    s3.put_object_lock_configuration(Bucket=bucket, ObjectLockConfiguration=configuration)
    outcome["configured"] = s3.get_object_lock_configuration(Bucket=bucket)["ObjectLockConfiguration"] == configuration
    by_default = {**here, "VersionId": s3.put_object(**here, Body=b"z")["VersionId"]}
    outcome["compliance"] = refusal(s3.delete_object, **by_default, BypassGovernanceRetention=True)
    longer = {"Mode": "GOVERNANCE", "RetainUntilDate": until + timedelta(days=2)}
    outcome["weaker mode"] = refusal(
        s3.put_object_retention, **by_default, Retention=longer, BypassGovernanceRetention=True
    )
    return outcome


def main() -> None:
    job = json.load(sys.stdin)
    keys = {"aws_access_key_id": job["accessKey"], "aws_secret_access_key": job["secretKey"]}
    config = Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"total_max_attempts": 1})
    common = {**keys, "endpoint_url": job["endpoint"], "region_name": "us-east-1", "config": config}
    s3 = boto3.client("s3", **common)
    s3.create_bucket(Bucket="versions")
    outcome: dict = {}
    outcome["versions"] = versions(s3, "versions")
    outcome["conditions"] = conditions(s3, "versions")
    outcome["tags"] = tags(s3, "versions")
    outcome["lock"] = lock(s3, "locked")

    # As programs empty a bucket: the resource deletes all versions in calls of DeleteObjects.
    bucket = boto3.resource("s3", **common).Bucket("versions")
    for at in range(1_050):
        bucket.put_object(Key=f"many/{at % 3}", Body=b"")
    bucket.object_versions.delete()
    outcome["emptied"] = len(list(bucket.object_versions.all()))
    bucket.delete()
    json.dump(outcome, sys.stdout)


main()
