"""
Reads OTLP trace requests with the official Python classes, apart from the product and its tests. On stdin one JSON
document: a list of {"encoding": "protobuf" | "json", "body": base64}. On stdout the list of what they say, as the
JSON mapping of protobuf shows it, field names as in the .proto; an error is {"error": text}.
"""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {"traceId", "spanId", "parentSpanId"}


def with_base64_ids(value):
    """OTLP/JSON writes ids in hex where protobuf's own mapping has base64."""
    if isinstance(value, list):
        return [with_base64_ids(one) for one in value]
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(one)).decode() if key in IDS and isinstance(one, str) else with_base64_ids(one)
            for key, one in value.items()
        }
    return value


def read(request):
    body = base64.b64decode(request["body"])
    message = ExportTraceServiceRequest()
    try:
        if request["encoding"] == "protobuf":
            message.ParseFromString(body)
        else:
            json_format.ParseDict(with_base64_ids(json.loads(body)), message, ignore_unknown_fields=True)
    except Exception as error:
        return {"error": str(error)}
    return json_format.MessageToDict(message, preserving_proto_field_name=True)


json.dump([read(one) for one in json.load(sys.stdin)], sys.stdout)
