"""
Sends spans with the Python SDK: `client.py URL KEY gzip|none`. Prints what it sent as one JSON document.
"""

import json
import sys

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

url, key, compression = sys.argv[1:]
exporter = OTLPSpanExporter(
    endpoint=url,
    headers={"authorization": f"Bearer {key}"},
    compression=Compression.Gzip if compression == "gzip" else Compression.NoCompression,
)
memory = InMemorySpanExporter()
provider = TracerProvider(resource=Resource.create({"service.name": "python", "gen_ai.agent.id": "interop"}))
provider.add_span_processor(SimpleSpanProcessor(memory))
tracer = provider.get_tracer("interop", "1.2.3")
with tracer.start_as_current_span("invoke_agent", kind=SpanKind.INTERNAL, attributes={"tokens": 2**62, "words": ["a", "ü"]}):
    with tracer.start_as_current_span("chat", kind=SpanKind.CLIENT) as chat:
        chat.add_event("first token", {"index": 0})
    try:
        with tracer.start_as_current_span("execute_tool"):
            raise ValueError("it broke")
    except ValueError:
        pass
spans = memory.get_finished_spans()
result = exporter.export(spans)
json.dump(
    {
        "result": result.name,
        "spans": [
            {
                "traceId": f"{span.context.trace_id:032x}",
                "spanId": f"{span.context.span_id:016x}",
                "parentSpanId": f"{span.parent.span_id:016x}" if span.parent else "",
                "name": span.name,
                "start": str(span.start_time),
                "end": str(span.end_time),
                "status": span.status.status_code.value,
                "attributes": {key: str(value) if isinstance(value, int) else list(value) for key, value in span.attributes.items()},
                "events": [event.name for event in span.events],
            }
            for span in spans
        ],
    },
    sys.stdout,
)
