import { z } from 'zod';
import { jsonObject } from '../../http/index.ts';
import { newId } from '../../lib/ids.ts';
import { isObject, withoutNull } from '../../lib/objects.ts';
import { required, withDefault } from '../../resource/index.ts';
import { type TriggerChanges, triggerDefinition, triggerFields } from '../../triggers/index.ts';
import { readBody } from '../bodies.ts';
import type { Item, Kind, KindName, NamesOf, Run } from '../kind.ts';
import { resourceKind } from '../resource-kind.ts';

const { name, ...others } = triggerFields;
/** In the order of a document. `agent` is in none: it is the agent that has the trigger. */
const fields = {
  agent: required(z.unknown()),
  name,
  kind: required(z.string()).fixed(),
  settings: required(jsonObject),
  enabled: withDefault(z.boolean(), true),
  ...others,
};

const body = z.object({
  agent: z.unknown(),
  name: name.create,
  kind: z.string(),
  settings: jsonObject,
  enabled: fields.enabled.create,
  filter: others.filter.create,
  mapping: others.mapping.create,
  dedup: others.dedup.create,
  rate_limit: others.rate_limit.create,
});

/** The settings that name other things: what a document calls them, what the API does, and of which kind they are. */
const references: readonly { field: string; idField: string; kind: KindName }[] = [
  { field: 'connection', idField: 'connection_id', kind: 'event_connection' },
  { field: 'agent', idField: 'agent_id', kind: 'agent' },
  { field: 'trigger', idField: 'trigger_id', kind: 'trigger' },
];

/** The settings with ids in the place of names. */
const withIds = (settings: Item, idOf: (kind: KindName, name: string) => string): Item => {
  const known = { ...settings };
  for (const { field, idField, kind } of references) {
    const { [field]: named } = known;
    delete known[field];
    if (typeof named === 'string') known[idField] = idOf(kind, named);
  }
  return known;
};

/** The settings with names in the place of ids; an id of what is gone stays. */
const withNames = (settings: Item, nameOf: (kind: KindName, id: string) => string): Item => {
  const shown = withoutNull(settings) as Item;
  for (const { field, idField, kind } of references) {
    const { [idField]: referred } = shown;
    delete shown[idField];
    if (typeof referred === 'string') shown[field] = nameOf(kind, referred);
  }
  return shown;
};

type Definition = z.output<typeof triggerDefinition>;

/** The body of the API, by the schema of its kind. Throws 422 for what it refuses, also for keys that it does not know. */
const definitionOf = (
  { agent: _, settings, ...item }: Item,
  idOf: (kind: KindName, name: string) => string,
): Definition =>
  readBody(triggerDefinition, {
    ...item,
    settings: isObject(settings) ? withIds(settings, idOf) : settings,
  });

const secretIn = (settings: unknown): unknown => (isObject(settings) ? settings.secret : undefined);

/** Triggers. The name of one is that of its agent, a slash, and its own. */
export const triggerKind = (triggers: TriggerChanges): Kind => {
  const inRun = (run: Run) => (kind: KindName, name: string) => run.idOf(kind, name);
  const nameOf = ({ agent, name }: Item): string => `${agent}/${name}`;
  return resourceKind({
    kind: 'trigger',
    key: 'agents',
    fields,
    body,
    secrets: ['settings.secret'],
    namedBy: ['agent', 'name'],
    nameOf,
    // What is watched exists before what watches it, and goes after it.
    order: ({ kind }) => (kind === 'absence' ? 1 : 0),
    list: async (executor, names: NamesOf) => {
      const all = await triggers.list(executor);
      const agentOf = (id: string) => names('agent').get(id) ?? '';
      const own = new Map(
        all.map(({ row }) => [row.id, nameOf({ agent: agentOf(row.agent_id), name: row.name })]),
      );
      const named = (kind: KindName, id: string) =>
        (kind === 'trigger' ? own.get(id) : names(kind).get(id)) ?? id;
      return all.map(({ row, configured }) => {
        const { previous_secret: _, ...settings } = configured.settings as Item;
        const { filter, mapping, dedup, rate_limit, enabled, kind } = row;
        return {
          id: row.id,
          values: {
            agent: agentOf(row.agent_id),
            name: row.name,
            kind,
            settings: withNames(settings, named),
            enabled,
            filter,
            mapping,
            dedup,
            rate_limit,
          },
        };
      });
    },
    toDocument: ({ agent: _, ...item }) => item,
    // A secret that a document leaves out stays as it is.
    prepare: (given, found) => {
      const { settings } = given;
      const stored = secretIn(found?.item.settings);
      if (!isObject(settings) || settings.secret !== undefined || stored === undefined) return given;
      return { ...given, settings: { ...settings, secret: stored } };
    },
    // With the defaults of its kind, which are what is stored.
    complete: (item) => {
      const placeholders = new Map<string, string>();
      const parsed = definitionOf(item, (_kind, named) => {
        const id = newId();
        placeholders.set(id, named);
        return id;
      });
      return {
        ...item,
        settings: withNames(parsed.settings as Item, (_kind, id) => placeholders.get(id) ?? id),
      };
    },
    checkGiven: (given) => {
      let definition: Definition;
      try {
        definition = definitionOf(given, () => newId());
      } catch {
        return; // Its faults are reported already.
      }
      triggers.check(definition);
    },
    references: ({ settings }) =>
      references.flatMap(({ field, kind }) => {
        const named = (settings as Item)[field];
        // An agent may go: what watches it is blocked then.
        return typeof named === 'string'
          ? [{ path: `settings.${field}`, kind, name: named, ...(kind === 'agent' && { weak: true }) }]
          : [];
      }),
    create: (run, _values, item) => {
      const definition = definitionOf(item, inRun(run));
      return triggers.create(run.tx, run.actor, run.idOf('agent', String(item.agent)), definition);
    },
    update: (run, id, _values, item, changed) =>
      triggers.change(run.tx, run.actor, id, definitionOf(item, inRun(run)), changed),
    remove: ({ tx, actor }, { id }) => triggers.delete(tx, actor, id),
  });
};
