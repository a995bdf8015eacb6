import { LRUCache } from 'lru-cache';
import type { Bound, Budgets, CallSubjects } from '../budgets/index.ts';
import type { Database } from '../database/index.ts';
import { actingPrincipal, actingRun } from '../lib/acting-for.ts';
import { messageOf } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import { noTokens, type ReportedTokens, totalTokens } from '../lib/tokens.ts';
import type { ResolvedLlm } from '../llm-configurations/index.ts';
import { amountOf, dearestAmount, type Price, type Prices } from '../prices/index.ts';
import type { CurrentSettings } from '../settings/index.ts';
import type { Charge, ChargedTo, NewCharge, Purpose } from './charge.ts';
import { insertCharges } from './store.ts';

/** A call of a model as it is about to be sent. */
interface SentCall {
  /** The span of the call; null outside of any. */
  span: { traceId: string; spanId: string } | null;
  /** Ends the wait for room in budgets. */
  signal: AbortSignal;
  /** The most tokens that its prompt can have. */
  maxInputTokens: number;
  /** The limit of its reply; null: none is sent, because no budget counts the call. */
  maxOutputTokens: number | null;
}

/** What came of a call that was sent. */
interface CallEnd {
  /** Null: the call broke off, or the endpoint reported no usage. */
  reported: ReportedTokens | null;
  /** The model as the endpoint named it; null if it did not. */
  model: string | null;
}

/** A call of a model in progress. One of its functions is called, once. */
interface OpenCall {
  /** Charges it. Resolves when the charge is written, or kept for the statement of a step. */
  end(end: CallEnd): Promise<void>;
  /** Nothing is charged: it was not sent, or refused before any reply. */
  void(): void;
}

/** The account that calls of one model are charged to. */
export interface CallAccount {
  /** Resolves to the limit of tokens to send with a call that has none: budgets need one. Null: it may have none. */
  outputLimit(): Promise<number | null>;
  /** Rejects with BudgetExceeded or PriceUnknown if the call must not be sent. */
  begin(call: SentCall): Promise<OpenCall>;
}

interface AccountOptions {
  purpose: Purpose;
  /** The agent of a call outside of runs. */
  agentId?: string | null;
  /** Receives each charge when its call has ended. */
  observe?: (charge: NewCharge) => void;
  /** True: who observes the charges writes them. Else each is written at once. */
  isKept?: boolean;
}

export interface Accounts {
  /** `requested`: the name of the model that is asked for. */
  open(llm: ResolvedLlm, requested: string, options: AccountOptions): CallAccount;
  /** Resolves to the configuration that a call goes to in the place of this one, because budgets say so; null: none. */
  substitute(
    llm: Pick<ResolvedLlm, 'id'>,
    options: Pick<AccountOptions, 'purpose' | 'agentId'>,
    signal: AbortSignal,
  ): Promise<string | null>;
  /**
   * Writes charges of a run that lost its lease, or whose end was not stored. While the database does not respond they
   * are kept in memory and tried again.
   */
  writeLate(charges: readonly NewCharge[]): Promise<void>;
}

interface AccountParts {
  db: Database;
  log: Logger;
  settings: CurrentSettings;
  /** A charge was made. */
  onCharge(charge: Charge): void;
  prices: Pick<Prices, 'priceFor'>;
  budgets: Pick<Budgets, 'reserve' | 'limits' | 'substitute'>;
}

const again = 1_000;

/** Who a call is charged to: the run that it is a part of, else the one who asked. */
const chargedTo = async ({ purpose, agentId = null }: AccountOptions): Promise<ChargedTo> => {
  const { kind, id } = await actingPrincipal();
  const run = actingRun();
  return {
    purpose,
    agent_id: run?.agentId ?? agentId,
    agent_version: run?.agentVersion ?? null,
    work_item_id: run?.workItemId ?? null,
    run_id: run?.runId ?? null,
    experiment_id: run?.experimentId ?? null,
    schedule_id: run?.scheduleId ?? null,
    trigger_id: run?.triggerId ?? null,
    principal_kind: kind,
    principal_id: id,
  };
};

/** The subjects whose budgets count a call. */
const subjectsOf = (to: ChargedTo, { id }: Pick<ResolvedLlm, 'id'>): CallSubjects => ({
  agentId: to.agent_id,
  scheduleId: to.schedule_id,
  triggerId: to.trigger_id,
  personId: to.principal_kind === 'person' ? to.principal_id : null,
  apiKeyId: to.principal_kind === 'service_account' ? to.principal_id : null,
  llmId: id,
});

/** Makes the accounts of a replica, the loop that writes what could not be written at once, and its last pass. */
export const createAccounts = ({
  db,
  log,
  settings,
  onCharge,
  prices,
  budgets,
}: AccountParts): { accounts: Accounts; loop: Loop; flush(): Promise<void> } => {
  /** The models that calls of a configuration were last answered by. */
  const lastModels = new LRUCache<string, string>({ max: 10_000 });
  let unwritten: NewCharge[] = [];
  const write = async (charges: readonly NewCharge[]): Promise<void> => {
    await db.run((executor) => insertCharges(executor, charges));
    for (const { settled } of charges) settled();
  };
  const writeOrKeep = async (charges: readonly NewCharge[]): Promise<void> => {
    try {
      await write(charges);
    } catch (error) {
      unwritten.push(...charges);
      loop.wakeWithin(again);
      throw error;
    }
  };
  /** Writes some of what could not be written. Resolves to whether there may be more. */
  const writeKept = async (): Promise<boolean> => {
    const charges = unwritten.slice(0, 500);
    if (charges.length === 0) return false;
    await write(charges);
    unwritten = unwritten.slice(charges.length);
    return true;
  };
  const loop: Loop = new Loop({
    name: 'charges',
    log,
    retryMs: again,
    maxRetryMs: again * 10,
    tick: async () => ((await writeKept()) ? 0 : null),
  });
  /** Writes what is kept once the loop has stopped. What the database does not take then is lost, and logged. */
  const flush = async (): Promise<void> => {
    try {
      while (await writeKept());
    } catch (error) {
      log.error({ error: messageOf(error), charges: unwritten.length }, 'charges are lost');
    }
  };

  const priced = async (
    llm: ResolvedLlm,
    requested: string,
    at: Date,
    { reported, model }: CallEnd,
  ): Promise<Pick<Charge, 'status' | 'price_id' | 'amount_nano_usd'>> => {
    if (reported === null) return { status: 'unknown_usage', price_id: null, amount_nano_usd: null };
    const { price } = await prices.priceFor({ llm, reported: model, requested, at });
    if (price === null) return { status: 'unknown_price', price_id: null, amount_nano_usd: null };
    return { status: 'priced', price_id: price.id, amount_nano_usd: amountOf(reported.tokens, price) };
  };

  /** The price of a call before it is made: of the name that is asked for, else of what such calls were answered by. */
  const expectedPrice = async (llm: ResolvedLlm, requested: string, at: Date): Promise<Price | null> => {
    const { price } = await prices.priceFor({ llm, reported: null, requested, at });
    if (price !== null) return price;
    const reported = lastModels.get(`${llm.id} ${requested}`);
    if (reported === undefined) return null;
    return (await prices.priceFor({ llm, reported, requested, at })).price;
  };

  const boundOf = (
    { maxInputTokens, maxOutputTokens }: SentCall,
    price: Price | null,
    model: string,
  ): Bound => {
    const output = maxOutputTokens ?? settings.get().BUDGET_MAX_OUTPUT_TOKENS;
    return {
      nanoUsd: price === null ? 0 : dearestAmount(maxInputTokens, output, price),
      tokens: maxInputTokens + output,
      priceUnknown: price === null,
      model,
    };
  };

  const outputLimit = async (llm: ResolvedLlm, options: AccountOptions): Promise<number | null> => {
    const subjects = subjectsOf(await chargedTo(options), llm);
    return (await budgets.limits(subjects)) ? settings.get().BUDGET_MAX_OUTPUT_TOKENS : null;
  };

  const begin = async (
    llm: ResolvedLlm,
    requested: string,
    options: AccountOptions,
    call: SentCall,
  ): Promise<OpenCall> => {
    const to = await chargedTo(options);
    const subjects = subjectsOf(to, llm);
    const reservation = await budgets.reserve({
      subjects,
      bound: async () => boundOf(call, await expectedPrice(llm, requested, new Date()), requested),
      signal: call.signal,
    });
    const at = new Date(reservation.startedAt);
    const begun = performance.now();
    return {
      void: () => reservation.release(),
      end: async (end) => {
        const duration_ms = Math.round(performance.now() - begun);
        if (end.model !== null) lastModels.set(`${llm.id} ${requested}`, end.model);
        const price = await priced(llm, requested, at, end).catch((error: unknown) => {
          log.error({ error: messageOf(error), model: requested }, 'the price of a call was not found');
          return { status: 'unknown_price', price_id: null, amount_nano_usd: null } as const;
        });
        const tokens = end.reported?.tokens ?? noTokens;
        const assumed_nano_usd = end.reported === null ? reservation.boundNanoUsd : null;
        const charge: NewCharge = {
          charge: {
            ...to,
            ...tokens,
            ...price,
            id: newId(),
            started_at: at,
            duration_ms,
            unreconciled: end.reported?.unreconciled ?? false,
            late: false,
            llm_id: llm.id,
            requested_model: requested,
            model: end.model,
            assumed_nano_usd,
            trace_id: call.span?.traceId ?? null,
            span_id: call.span?.spanId ?? null,
            external_id: null,
          },
          settlements: reservation.settlement({
            amountNanoUsd: price.amount_nano_usd,
            assumedNanoUsd: assumed_nano_usd,
            tokens: totalTokens(tokens),
          }),
          settled: () => reservation.settled(),
        };
        onCharge(charge.charge);
        options.observe?.(charge);
        if (!options.isKept) await writeOrKeep([charge]);
      },
    };
  };

  return {
    accounts: {
      open: (llm, requested, options) => ({
        outputLimit: () => outputLimit(llm, options),
        begin: (call) => begin(llm, requested, options, call),
      }),
      substitute: async (llm, options, signal) =>
        budgets.substitute(subjectsOf(await chargedTo(options), llm), signal),
      writeLate: async (charges) => {
        if (charges.length === 0) return;
        const late = charges.map((one) => ({ ...one, charge: { ...one.charge, late: true } }));
        await writeOrKeep(late).catch((error: unknown) => {
          log.warn({ error: messageOf(error), charges: late.length }, 'charges are not written yet');
        });
      },
    },
    loop,
    flush,
  };
};
