import type { CountedBudget } from './store.ts';

/** The subjects of one call, by which its budgets are found. */
export interface CallSubjects {
  agentId: string | null;
  scheduleId: string | null;
  triggerId: string | null;
  personId: string | null;
  /** The first key of the service account. */
  apiKeyId: string | null;
  llmId: string | null;
}

/** A budget that counts a call, and the subject whose period it is: empty for the workspace. */
export interface Applied {
  budget: CountedBudget;
  subjectId: string;
}

const subjectOf = {
  agent: 'agentId',
  schedule: 'scheduleId',
  trigger: 'triggerId',
  person: 'personId',
  api_key: 'apiKeyId',
  llm_configuration: 'llmId',
} as const satisfies Record<string, keyof CallSubjects>;

type Kind = keyof typeof subjectOf;
const kinds = Object.keys(subjectOf) as Kind[];

/** The budgets as this replica last read them. */
export class Copy {
  readonly version: string;
  readonly budgets: readonly CountedBudget[];
  readonly byId: ReadonlyMap<string, CountedBudget>;
  readonly #workspace: Applied[] = [];
  readonly #ofEach = new Map<Kind, CountedBudget[]>();
  readonly #ofOne = new Map<string, CountedBudget[]>();

  constructor(version: string, budgets: readonly CountedBudget[]) {
    this.version = version;
    this.budgets = budgets;
    this.byId = new Map(budgets.map((one) => [one.id, one]));
    for (const budget of budgets) {
      const { kind, id } = budget.scope;
      if (kind === 'workspace') this.#workspace.push({ budget, subjectId: '' });
      else if (id === null) this.#ofEach.set(kind, [...(this.#ofEach.get(kind) ?? []), budget]);
      else this.#ofOne.set(id, [...(this.#ofOne.get(id) ?? []), budget]);
    }
  }

  /** Returns the budgets that count a call. */
  of(subjects: CallSubjects): Applied[] {
    const found = [...this.#workspace];
    for (const kind of kinds) {
      const id = subjects[subjectOf[kind]];
      if (id === null) continue;
      for (const budget of this.#ofEach.get(kind) ?? []) found.push({ budget, subjectId: id });
      for (const budget of this.#ofOne.get(id) ?? [])
        if (budget.scope.kind === kind) found.push({ budget, subjectId: id });
    }
    return found;
  }
}
