export type { CallerRequest, Context } from './context.ts';
export type { Credentials } from './credentials.ts';
export { download, downloadDocument } from './download.ts';
export { downloadRoute, type FileDownload } from './download-route.ts';
export type { ShownFailure } from './failure.ts';
export { headerMap, headerName, headerValue } from './headers.ts';
export { createManagementServer, type Listener } from './health.ts';
export type { HookRequest, HookRoute } from './hook-route.ts';
export { deleteExpiredKeys, IdempotentReplay, requestHash, withIdempotencyKey } from './idempotency.ts';
export type { JsonContext } from './json-operation.ts';
export { jsonRoute } from './json-route.ts';
export { describeApi } from './openapi.ts';
export { jsonSchemaOf } from './openapi-schema.ts';
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
export type { Operation, Route, RouteGroup } from './route.ts';
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
export { createServer, type ServerOptions } from './server.ts';
export { type SignInContext, signInRoute } from './sign-in-route.ts';
export { qualityOf, type Site, type SiteRequest, type SiteResponse } from './site.ts';
export { type StreamContext, streamRoute } from './stream-route.ts';
export type { Upload, UploadSpec } from './upload.ts';
export { type UploadContext, uploadRoute } from './upload-route.ts';
export { readJson, validate } from './validate.ts';
export { type WebContext, webRoute } from './web-route.ts';
