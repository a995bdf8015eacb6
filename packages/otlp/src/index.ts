export { Thread } from './thread.ts';
export { Compressor } from './wire/compress.ts';
export {
  type DecodedScope,
  type DecodedSpan,
  decodeResource,
  decodeScope,
  decodeSpan,
  type JsonAttributes,
  type JsonValue,
} from './wire/decode.ts';
export {
  gunzip,
  gunzipSync,
  gzip,
  type Inflated,
  inflatedSize,
  unzstd,
} from './wire/gzip.ts';
export { fromJson } from './wire/json.ts';
export { JsonThread } from './wire/json-thread.ts';
export {
  type Encoding,
  encodingOf,
  exportResponse,
  mediaType,
  partialSuccess,
  statusBody,
} from './wire/messages.ts';
export { WireReader } from './wire/protobuf.ts';
export { type Reserve, readBody, release } from './wire/request-body.ts';
export { withResourceAttributes } from './wire/resource.ts';
export { type Around, eachSpan, joinSpans, type SpansAround } from './wire/spans.ts';
export { mostSpans, type Scan, scan, selectSpans, takeSpans } from './wire/wire.ts';
