import { path } from '../../api/request.ts';

/** All lists and pages of Work Items are under it: for `invalidate`. */
export const workItemsPath = '/app/api/work-items';

export const detailPath = (id: string): string => path`/app/api/work-items/${id}`;
export const messagesPath = (id: string): string => path`/app/api/work-items/${id}/messages`;
export const contentPath = (id: string, messageId: string): string =>
  path`/app/api/work-items/${id}/messages/${messageId}/content`;
export const valuePath = (id: string, part: 'payload' | 'result'): string => `${detailPath(id)}/${part}`;
export const stepsPath = (id: string): string => path`/app/api/work-items/${id}/steps`;
export const eventsPath = (id: string): string => path`/api/v2/work-items/${id}/events`;
export const streamPath = (id: string): string => path`/app/api/work-items/${id}/stream`;
/** The public address, for commands that people copy. */
export const publicPath = (id: string): string => path`/api/v2/work-items/${id}`;
export const actionPath = (id: string, action: string): string => path`/api/v2/work-items/${id}/${action}`;
