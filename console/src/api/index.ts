export { useOfflineSince } from './connection.ts';
export { type Edit, useEditForm } from './edit-form.ts';
export { type StreamEvent, type StreamState, useEventStream } from './event-stream.ts';
export { type FieldProps, type Form, type FormOptions, useForm } from './form.ts';
export {
  type Branding,
  type Me,
  mePath,
  type Permission,
  type Role,
  roleOf,
  useBaseUrl,
  useMe,
  useMeQuery,
  usePermission,
  useReportReviewCount,
} from './me.ts';
export { type Action, useAction, useCreate, useIdempotencyKey } from './mutation.ts';
export { listPolling, polling } from './polling.ts';
export {
  type GetOptions,
  type Got,
  queryClient,
  useAsk,
  useGet,
  useInvalidate,
  useSetCached,
  withRefresh,
} from './query.ts';
export {
  ApiProblem,
  type Fault,
  onFailure,
  path,
  type Query,
  type Reply,
  request,
  send,
  withQuery,
} from './request.ts';
export { discardUnsaved, useUnsaved } from './unsaved.ts';
export { upload } from './upload.ts';
