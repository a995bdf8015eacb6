export type { ChangeId } from './changes.ts';
export { useOfflineSince } from './connection.ts';
export { type Edit, useEditForm } from './edit-form.ts';
export { type StreamEvent, type StreamState, useEventStream } from './event-stream.ts';
export { type FieldProps, type Form, type FormOptions, useForm } from './form.ts';
export {
  type Branding,
  getMe,
  type Me,
  type Permission,
  type Role,
  useBaseUrl,
  useMe,
  useMeQuery,
  usePermission,
  useReportReviewCount,
} from './me.ts';
export {
  type Action,
  call,
  perform,
  refreshAfter,
  useAction,
  useIdempotencyKey,
} from './mutation.ts';
export {
  addressOf,
  type Body,
  type InputOf,
  type OperationId,
  type Output,
  type Params,
  type QueryOf,
  type ReadId,
  readOf,
  urlOf,
} from './operations.ts';
export { listPolling, polling } from './polling.ts';
export {
  type LoadState,
  queryClient,
  readEarly,
  refresh,
  setCached,
  useOperation,
  usePostQuery,
  withRefresh,
} from './query.ts';
export {
  ApiProblem,
  type Fault,
  onFailure,
  type Query,
  type Reply,
  send,
} from './request.ts';
export { discardUnsaved, useUnsaved } from './unsaved.ts';
export { upload } from './upload.ts';
