"""What an application does with boto3 on websites, access logs, inventories, request payment and acceleration of buckets.

Reads its job from standard input as JSON and prints the outcome as JSON; asserts nothing itself.
"""

import gzip
import hashlib
import json
import sys
import time

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError


def refusal(call, **arguments) -> list:
    """The status and the code of a refused call."""
    try:
        call(**arguments)
        return [200, "no error"]
    except ClientError as error:
        return [error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]]


def answer(call, **arguments) -> dict:
    """The answer without what is about the request."""
    found = call(**arguments)
    found.pop("ResponseMetadata")
    return found


def website(s3) -> dict:
    configuration = {
        "IndexDocument": {"Suffix": "index.html"},
        "ErrorDocument": {"Key": "error.html"},
        "RoutingRules": [
            {
                "Condition": {"KeyPrefixEquals": "old/", "HttpErrorCodeReturnedEquals": "404"},
                "Redirect": {"ReplaceKeyPrefixWith": "new/", "HttpRedirectCode": "302", "Protocol": "https", "HostName": "example.com"},
            }
        ],
    }
    everything = {"RedirectAllRequestsTo": {"HostName": "example.com", "Protocol": "https"}}
    outcome: dict = {"none": refusal(s3.get_bucket_website, Bucket="site")}
    for name, wanted in [("rules", configuration), ("redirect", everything)]:
        s3.put_bucket_website(Bucket="site", WebsiteConfiguration=wanted)
        outcome[name] = answer(s3.get_bucket_website, Bucket="site") == wanted
    outcome["invalid"] = refusal(s3.put_bucket_website, Bucket="site", WebsiteConfiguration={"IndexDocument": {"Suffix": "a/b"}})
    s3.delete_bucket_website(Bucket="site")
    outcome["deleted"] = refusal(s3.get_bucket_website, Bucket="site")
    return outcome


def logging(s3) -> dict:
    enabled = {
        "TargetBucket": "reports",
        "TargetPrefix": "logs/",
        "TargetObjectKeyFormat": {"PartitionedPrefix": {"PartitionDateSource": "DeliveryTime"}},
    }
    outcome: dict = {"none": answer(s3.get_bucket_logging, Bucket="site")}
    s3.put_bucket_logging(Bucket="site", BucketLoggingStatus={"LoggingEnabled": enabled})
    outcome["enabled"] = answer(s3.get_bucket_logging, Bucket="site") == {"LoggingEnabled": enabled}
    absent = {"LoggingEnabled": {"TargetBucket": "absent", "TargetPrefix": ""}}
    outcome["absent"] = refusal(s3.put_bucket_logging, Bucket="site", BucketLoggingStatus=absent)
    s3.put_bucket_logging(Bucket="site", BucketLoggingStatus={})
    outcome["ended"] = answer(s3.get_bucket_logging, Bucket="site")
    return outcome


def inventory(s3) -> dict:
    keys = ["a b", "größe+1", "plain"]
    for key in keys:
        s3.put_object(Bucket="site", Key=key, Body=key.encode())
    configuration = {
        "Id": "daily",
        "IsEnabled": True,
        "Filter": {"Prefix": ""},
        "Destination": {"S3BucketDestination": {"AccountId": "000000000000", "Bucket": "arn:aws:s3:::reports", "Format": "CSV", "Prefix": "of"}},
        "Schedule": {"Frequency": "Daily"},
        "IncludedObjectVersions": "All",
        "OptionalFields": ["Size", "ETag", "StorageClass"],
    }
    call = {"Bucket": "site", "Id": "daily"}
    outcome: dict = {"none": refusal(s3.get_bucket_inventory_configuration, **call)}
    s3.put_bucket_inventory_configuration(**call, InventoryConfiguration=configuration)
    outcome["found"] = answer(s3.get_bucket_inventory_configuration, **call) == {"InventoryConfiguration": configuration}
    outcome["listed"] = answer(s3.list_bucket_inventory_configurations, Bucket="site") == {
        "InventoryConfigurationList": [configuration],
        "IsTruncated": False,
    }
    other = {**configuration, "Id": "other"}
    outcome["mismatch"] = refusal(s3.put_bucket_inventory_configuration, **call, InventoryConfiguration=other)
    orc = {**configuration, "Destination": {"S3BucketDestination": {"Bucket": "arn:aws:s3:::reports", "Format": "ORC"}}}
    outcome["ORC"] = refusal(s3.put_bucket_inventory_configuration, **call, InventoryConfiguration=orc)
    checksum = None
    for _ in range(300):
        listed = s3.list_objects_v2(Bucket="reports", Prefix="of/site/daily/").get("Contents", [])
        checksum = next((one["Key"] for one in listed if one["Key"].endswith("manifest.checksum")), None)
        if checksum is not None:
            break
        time.sleep(0.1)
    read = lambda key: s3.get_object(Bucket="reports", Key=key)["Body"].read()
    manifest = read(checksum.replace("checksum", "json"))
    outcome["checksum"] = hashlib.md5(manifest).hexdigest() == read(checksum).decode()
    described = json.loads(manifest)
    outcome["schema"] = described["fileSchema"]
    files = [(file, read(file["key"])) for file in described["files"]]
    outcome["files"] = all(file["MD5checksum"] == hashlib.md5(data).hexdigest() and file["size"] == len(data) for file, data in files)
    outcome["rows"] = [line.split(",")[:6] for _, data in files for line in gzip.decompress(data).decode().splitlines()]
    s3.delete_bucket_inventory_configuration(**call)
    outcome["deleted"] = refusal(s3.delete_bucket_inventory_configuration, **call)
    return outcome


def charges(s3) -> dict:
    outcome: dict = {
        "payer": answer(s3.get_bucket_request_payment, Bucket="site"),
        "speed": answer(s3.get_bucket_accelerate_configuration, Bucket="site"),
    }
    s3.put_bucket_request_payment(Bucket="site", RequestPaymentConfiguration={"Payer": "Requester"})
    outcome["requester"] = answer(s3.get_bucket_request_payment, Bucket="site")
    for status in ["Enabled", "Suspended"]:
        s3.put_bucket_accelerate_configuration(Bucket="site", AccelerateConfiguration={"Status": status})
        outcome[status] = answer(s3.get_bucket_accelerate_configuration, Bucket="site")
    outcome["nobody"] = refusal(s3.put_bucket_request_payment, Bucket="site", RequestPaymentConfiguration={"Payer": "Nobody"})
    return outcome


job = json.load(sys.stdin)
client = boto3.client(
    "s3",
    endpoint_url=job["endpoint"],
    aws_access_key_id=job["accessKey"],
    aws_secret_access_key=job["secretKey"],
    region_name="us-east-1",
    config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
)
for name in ["site", "reports"]:
    client.create_bucket(Bucket=name)
outcome = {part.__name__: part(client) for part in [website, logging, inventory, charges]}
print(json.dumps(outcome))
