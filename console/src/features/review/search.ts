import { oneOf, searchSchema, text, texts } from '../../app/search.ts';

export const reviewOrders = ['waiting', 'created'] as const;

export const reviewSearch = searchSchema({ agent_id: texts, sort: oneOf(reviewOrders), next: text });
