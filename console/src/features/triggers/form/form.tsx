import type { PublicTrigger } from '../../../api/types.gen.ts';
import { describeForm } from '../../../resource/describe-form.ts';
import { area, choice, type Field, flag, lines, numeric, secret, text } from '../../../resource/fields.tsx';
import { common } from '../../../text/en/common.ts';
import { triggerForm as words } from '../../../text/en/trigger-form.ts';
import { triggers } from '../../../text/en/triggers.ts';
import { workItems } from '../../../text/en/work-items.ts';
import { MultiSelect, optionsOf } from '../../../ui/index.ts';
import { ConnectionSelect, OwnerSelect, TriggerSelect, WatchedAgentSelect } from './selects.tsx';

type Kind = PublicTrigger['kind'];
type Scheme = NonNullable<PublicTrigger['settings']['scheme']>;
type Texts =
  | 'name'
  | 'hmac_header'
  | 'hmac_prefix'
  | 'hmac_timestamp_header'
  | 'hmac_separator'
  | 'bearer_header'
  | 'stream'
  | 'subjects'
  | 'durable_name'
  | 'topic'
  | 'group_id'
  | 'filter'
  | 'message'
  | 'work_item_name'
  | 'payload'
  | 'dedup_key';
type Ids = 'owner' | 'connection_id' | 'watched_trigger' | 'watched_agent';
type Numbers = 'absence_window' | 'dedup_window' | 'per_minute';

export interface TriggerValues
  extends Record<Texts, string>,
    Record<Ids, string | null>,
    Record<Numbers, number | null> {
  kind: Kind;
  scheme: Scheme;
  secret: string | null;
  hmac_algorithm: keyof typeof words.algorithms;
  hmac_encoding: keyof typeof words.encodings;
  nats_start: keyof typeof words.natsStarts;
  kafka_start: keyof typeof words.kafkaStarts;
  statuses: string[];
  watched: keyof typeof words.watchedKinds;
  repeat: boolean;
  over: keyof typeof words.overs;
}

const isKind =
  (...kinds: readonly Kind[]) =>
  ({ kind }: TriggerValues): boolean =>
    kinds.includes(kind);
const isWebhook = isKind('webhook');
const isBroker = isKind('nats', 'kafka');
const isAbsence = isKind('absence');
const hasScheme =
  (scheme: Scheme) =>
  (values: TriggerValues): boolean =>
    isWebhook(values) && values.scheme === scheme;
const isHmac = hasScheme('hmac');
const isTimed = (values: TriggerValues): boolean => values.hmac_timestamp_header.trim() !== '';
const watches =
  (watched: TriggerValues['watched']) =>
  (values: TriggerValues): boolean =>
    isAbsence(values) && values.watched === watched;
/** An absence has its own window, and makes at most one event in it. */
const isDeduplicated = (values: TriggerValues): boolean => !isAbsence(values);

const { DRAFT: _, ...statuses } = workItems.status;
const statusOptions = optionsOf(statuses);

/** The id of something that is chosen. */
const reference = (
  control: Field<string | null, TriggerValues>['control'],
  options: Partial<Field<string | null, TriggerValues>>,
): Field<string | null, TriggerValues> => ({
  ...options,
  first: null,
  readAt: (read, path) => (read(path) as string | null | undefined) ?? null,
  sent: (value) => value,
  control,
});

const secretHint = ({ scheme }: TriggerValues): string =>
  scheme === 'slack' || scheme === 'stripe' ? words.secretHints[scheme] : words.secretHints.generated;

const described = describeForm<TriggerValues, PublicTrigger, 'createTrigger', 'replaceTrigger'>(
  {
    words,
    paths: {
      owner: null,
      scheme: 'settings.scheme',
      secret: 'settings.secret',
      hmac_header: 'settings.hmac.header',
      hmac_algorithm: 'settings.hmac.algorithm',
      hmac_encoding: 'settings.hmac.encoding',
      hmac_prefix: 'settings.hmac.prefix',
      hmac_timestamp_header: 'settings.hmac.timestamp_header',
      hmac_separator: 'settings.hmac.separator',
      bearer_header: 'settings.bearer.header',
      connection_id: 'settings.connection_id',
      stream: 'settings.stream',
      subjects: 'settings.subjects',
      nats_start: 'settings.start',
      durable_name: 'settings.durable_name',
      topic: 'settings.topic',
      group_id: 'settings.group_id',
      kafka_start: 'settings.start',
      statuses: 'settings.statuses',
      watched: null,
      watched_trigger: 'settings.trigger_id',
      watched_agent: 'settings.agent_id',
      absence_window: 'settings.window_seconds',
      repeat: 'settings.repeat',
      message: 'mapping.message',
      work_item_name: 'mapping.work_item_name',
      payload: 'mapping.payload',
      dedup_key: 'dedup.key',
      dedup_window: 'dedup.window_seconds',
      per_minute: 'rate_limit.per_minute',
      over: 'rate_limit.over',
    },
    rows: [
      ['hmac_algorithm', 'hmac_encoding'],
      ['hmac_timestamp_header', 'hmac_separator'],
      ['per_minute', 'over'],
    ],
  },
  {
    owner: reference((props) => <OwnerSelect {...props} />, { required: true, fixed: true }),
    name: text({ label: common.name, required: true }),
    kind: choice('webhook', triggers.kinds, {
      hint: ({ kind }) => words.kindHints[kind],
      fixed: true,
      // A connection is of one kind.
      also: () => ({ connection_id: null }),
    }),
    scheme: choice('standard_webhooks', triggers.schemes, {
      hint: ({ scheme }) => words.schemeHints[scheme],
      when: isWebhook,
      fixed: true,
      also: () => ({ secret: '' }),
    }),
    hmac_header: text({ hint: words.headerHint, when: isHmac, required: true, mono: true }),
    hmac_algorithm: choice('sha256', words.algorithms, { when: isHmac }),
    hmac_encoding: choice('hex', words.encodings, { when: isHmac }),
    hmac_prefix: text({ hint: words.prefixHint, when: isHmac, mono: true }),
    hmac_timestamp_header: text({ hint: words.timestampHint, when: isHmac, mono: true }),
    hmac_separator: {
      ...text<TriggerValues>({ hint: words.separatorHint, shown: isTimed, mono: true }),
      first: '.',
      when: isHmac,
      // Nothing at all may stand between them.
      sent: (value) => value,
    },
    bearer_header: {
      ...text<TriggerValues>({ hint: words.bearerHint, when: hasScheme('bearer'), mono: true }),
      first: 'Authorization',
    },
    secret: secret({
      hint: secretHint,
      when: (values) => isWebhook(values) && values.scheme !== 'none',
      required: ({ scheme }) => scheme === 'slack' || scheme === 'stripe',
      fixed: true,
      // A secret that its sender makes and is missing is refused in its words.
      send: (value) => value?.trim() || null,
    }),
    connection_id: reference(
      (props, { kind }) => <ConnectionSelect {...props} kind={kind === 'kafka' ? 'kafka' : 'nats'} />,
      {
        when: isBroker,
        required: true,
        fixed: true,
      },
    ),
    stream: text({ when: isKind('nats'), required: true, fixed: true, mono: true }),
    subjects: {
      ...lines<TriggerValues>({ hint: words.subjectsHint, when: isKind('nats'), rows: 2, mono: true }),
      send: (value) => {
        const subjects = value.split('\n').flatMap((line) => line.trim() || []);
        return subjects.length === 0 ? null : subjects;
      },
    },
    nats_start: choice('new', words.natsStarts, { when: isKind('nats') }),
    durable_name: text({ hint: words.durableHint, when: isKind('nats'), fixed: true, mono: true }),
    topic: text({ when: isKind('kafka'), required: true, fixed: true, mono: true }),
    kafka_start: choice('latest', words.kafkaStarts, { when: isKind('kafka') }),
    group_id: text({ hint: words.groupHint, when: isKind('kafka'), fixed: true, mono: true }),
    statuses: {
      hint: words.statusesHint,
      when: isKind('work_item'),
      required: true,
      first: ['COMPLETED'],
      readAt: (read, path) => (read(path) as string[] | undefined) ?? [],
      sent: (value) => value,
      choices: statusOptions,
      control: (props) => <MultiSelect {...props} options={statusOptions} />,
    },
    watched: choice('trigger', words.watchedKinds, {
      when: isAbsence,
      read: (read) => (read('settings.agent_id') ? 'agent' : 'trigger'),
    }),
    watched_trigger: reference((props) => <TriggerSelect {...props} />, {
      when: watches('trigger'),
      required: true,
    }),
    watched_agent: reference((props) => <WatchedAgentSelect {...props} />, {
      hint: ({ kind }) => (kind === 'work_item' ? words.watchedWorkItemsHint : undefined),
      when: (values) => values.kind === 'work_item' || watches('agent')(values),
      required: isAbsence,
    }),
    absence_window: numeric({
      first: 3_600,
      hint: ({ absence_window }) => words.absenceWindowHint(absence_window),
      when: isAbsence,
      required: true,
      unit: words.seconds,
      min: 60,
      max: 604_800,
      step: 1,
    }),
    repeat: flag(false, { hint: words.repeatHint, when: isAbsence }),
    filter: area({ heading: words.what, hint: words.filterHint, mono: true }),
    message: area({ heading: words.work, hint: words.messageHint, rows: 3 }),
    work_item_name: text({ hint: words.nameHint }),
    payload: area({ hint: words.payloadHint, rows: 3, mono: true }),
    dedup_key: text({
      heading: words.limits,
      hint: words.keyHint,
      shown: isDeduplicated,
      mono: true,
    }),
    dedup_window: numeric({
      hint: ({ dedup_window }) => words.windowHint(dedup_window),
      shown: (values) => isDeduplicated(values) && values.dedup_key.trim() !== '',
      unit: words.seconds,
      min: 1,
      max: 2_592_000,
      step: 1,
    }),
    per_minute: numeric({ hint: words.perMinuteHint, min: 1, max: 60_000, step: 1 }),
    over: choice('queue', words.overs, {
      hint: ({ over }) => words.overHints[over],
      shown: ({ per_minute }) => per_minute !== null,
    }),
  },
);

type Definition = ReturnType<typeof described.create.toBody>;

/** Returns the body of create and replace. Parts that are not there are left out, so that they have their defaults. */
const toDefinition = (values: TriggerValues): Definition => {
  const { dedup, rate_limit, ...body } = described.create.toBody(values);
  return {
    ...body,
    ...(dedup?.key && { dedup }),
    ...(rate_limit?.per_minute !== undefined && { rate_limit }),
  } as Definition;
};

export const triggerForm = {
  ...described,
  create: { ...described.create, toBody: toDefinition },
  edit: {
    ...described.edit,
    toValues: (trigger: PublicTrigger): TriggerValues => ({
      ...described.edit.toValues(trigger),
      owner: trigger.agent_id,
    }),
    // The secret stays: it is rotated.
    toBody: (values: TriggerValues) => toDefinition({ ...values, secret: null }),
  },
};
