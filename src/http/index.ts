export type { Credentials } from './credentials.ts';
export { download, downloadOperation } from './download.ts';
export type { ShownFailure } from './failure.ts';
export { headerMap, headerName, headerValue } from './headers.ts';
export { createManagementServer, type Listener } from './health.ts';
export { deleteExpiredKeys, IdempotentReplay, requestHash, withIdempotencyKey } from './idempotency.ts';
export { describeApi, jsonSchemaOf } from './openapi.ts';
export {
  cursorOf,
  finder,
  listPage,
  offsetPageOf,
  pageOf,
  positionCursor,
  readPosition,
  sortedPage,
} from './pages.ts';
export { permissionsOf } from './permissions.ts';
export { TokenBuckets } from './rate-limit.ts';
export type { RawRequest, RawResponse, RawRoute } from './raw.ts';
export { type Context, type Route, type RouteGroup, route } from './route.ts';
export {
  checkedLater,
  givenTime,
  id,
  idList,
  jsonObject,
  jsonValue,
  limit,
  offsetQuery,
  optional,
  optionalQueryInteger,
  pageOrOffsetQuery,
  pageQuery,
  queryInteger,
  queryList,
  stepsOf,
  text,
  timestamp,
} from './schemas.ts';
export type { FileDownload } from './send-download.ts';
export { createServer, type ServerOptions } from './server.ts';
export { qualityOf, type Site, type SiteRequest, type SiteResponse } from './site.ts';
export type { Upload, UploadSpec } from './upload.ts';
export { readJson, validate } from './validate.ts';
