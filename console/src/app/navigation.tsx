import type { ComponentType } from 'react';
import type { OperationId } from '../api/operations.ts';
import { to } from '../routing/to.ts';
import { pages } from '../text/en/pages.ts';
import { shell } from '../text/en/shell.ts';
import { OverviewIcon, ReviewIcon, SchedulesIcon, WorkItemsIcon } from '../ui/icons.tsx';

export interface Place {
  label: string;
  href: string;
  /** Shown if the signed-in principal may call this operation. Without it, always. */
  operation?: OperationId;
  /** The letter after `g`. */
  letter?: string;
  /** Its drawing in the bar of phones; four places have one. */
  Icon?: ComponentType;
  /** The page for a new one, for the palette. */
  create?: { label: string; href: string; operation: OperationId };
}

export interface Group {
  /** Absent: the places stand at the top. */
  title?: string;
  /** The rail folds it if there are many places. */
  folds?: boolean;
  places: readonly Place[];
}

/** The navigation. A group that has no place for the signed-in principal is not shown. */
export const navigation: readonly Group[] = [
  {
    places: [
      { label: pages.overview, href: to('/'), letter: 'o', Icon: OverviewIcon },
      { label: pages.review, href: to('/review'), letter: 'r', operation: 'listWorkItems', Icon: ReviewIcon },
      {
        label: pages.alerts,
        href: to('/alerts'),
        letter: 'q',
        operation: 'listAlerts',
        create: { label: pages.newAlertRule, href: to('/alert-rules/new'), operation: 'createAlertRule' },
      },
    ],
  },
  {
    title: shell.run,
    places: [
      {
        label: pages.schedules,
        href: to('/schedules'),
        letter: 's',
        operation: 'listSchedules',
        Icon: SchedulesIcon,
        create: { label: pages.newSchedule, href: to('/schedules/new'), operation: 'createSchedule' },
      },
      {
        label: pages.triggers,
        href: to('/triggers'),
        letter: 'v',
        operation: 'listTriggers',
        create: { label: pages.newTrigger, href: to('/triggers/new'), operation: 'createTrigger' },
      },
      {
        label: pages.workItems,
        href: to('/work-items'),
        letter: 'w',
        operation: 'listWorkItems',
        Icon: WorkItemsIcon,
        create: { label: pages.newWorkItem, href: to('/work-items/new'), operation: 'createWorkItem' },
      },
      {
        label: pages.agents,
        href: to('/agents'),
        letter: 'a',
        operation: 'listAgents',
        create: { label: pages.newAgent, href: to('/agents/new'), operation: 'createAgent' },
      },
      {
        label: pages.extractions,
        href: to('/extractions'),
        letter: 'x',
        operation: 'listExtractions',
        create: { label: pages.newExtraction, href: to('/extractions/new'), operation: 'createExtraction' },
      },
    ],
  },
  {
    title: shell.improve,
    places: [
      { label: pages.evaluations, href: to('/evaluations'), letter: 'n', operation: 'listDatasets' },
      { label: pages.traces, href: to('/traces'), letter: 'b', operation: 'listTraces' },
      { label: pages.costs, href: to('/costs'), letter: 'c', operation: 'getCosts' },
    ],
  },
  {
    title: shell.connect,
    folds: true,
    places: [
      {
        label: pages.integrations,
        href: to('/integrations'),
        letter: 'i',
        operation: 'listObservabilityIntegrations',
        create: {
          label: pages.newIntegration,
          href: to('/integrations/new'),
          operation: 'createObservabilityIntegration',
        },
      },
      {
        label: pages.llmConfigurations,
        href: to('/llm-configurations'),
        letter: 'l',
        operation: 'listLlmConfigurations',
        create: {
          label: pages.newLlmConfiguration,
          href: to('/llm-configurations/new'),
          operation: 'createLlmConfiguration',
        },
      },
      {
        label: pages.toolServers,
        href: to('/tool-servers'),
        letter: 't',
        operation: 'listToolServers',
        create: { label: pages.newToolServer, href: to('/tool-servers/new'), operation: 'createToolServer' },
      },
      {
        label: pages.dataConnections,
        href: to('/data-connections'),
        letter: 'd',
        operation: 'listDataConnections',
        create: {
          label: pages.newDataConnection,
          href: to('/data-connections/new'),
          operation: 'createDataConnection',
        },
      },
      {
        label: pages.eventConnections,
        href: to('/event-connections'),
        letter: 'j',
        operation: 'listEventConnections',
        create: {
          label: pages.newEventConnection,
          href: to('/event-connections/new'),
          operation: 'createEventConnection',
        },
      },
      {
        label: pages.semanticDataModels,
        href: to('/semantic-data-models'),
        letter: 'm',
        operation: 'listSemanticDataModels',
        create: {
          label: pages.newSemanticDataModel,
          href: to('/semantic-data-models/new'),
          operation: 'createSemanticDataModel',
        },
      },
      {
        label: pages.documentIntelligence,
        href: to('/document-intelligence'),
        letter: 'y',
        operation: 'getDocumentIntelligence',
      },
      {
        label: pages.channels,
        href: to('/channels'),
        letter: 'z',
        operation: 'listChannels',
        create: { label: pages.newChannel, href: to('/channels/new'), operation: 'createChannel' },
      },
    ],
  },
  {
    title: shell.manage,
    folds: true,
    places: [
      {
        label: pages.budgets,
        href: to('/budgets'),
        letter: 'b',
        operation: 'listBudgets',
        create: {
          label: pages.newBudget,
          href: to('/budgets', {}, { new: '1' }),
          operation: 'createBudget',
        },
      },
      { label: pages.prices, href: to('/prices'), letter: 'f', operation: 'listPrices' },
      {
        label: pages.apiKeys,
        href: to('/api-keys'),
        letter: 'k',
        operation: 'listApiKeys',
        create: {
          label: shell.newApiKey,
          href: to('/api-keys', {}, { new: '1' }),
          operation: 'createApiKey',
        },
      },
      { label: pages.users, href: to('/users'), letter: 'u', operation: 'listUsers' },
      { label: pages.settings, href: to('/settings'), letter: 'e', operation: 'getAdvancedSettings' },
      { label: pages.audit, href: to('/audit'), letter: 'h', operation: 'listAudits' },
      { label: pages.status, href: to('/status'), letter: 'p', operation: 'getStatus' },
    ],
  },
];

export const otherPlaces: readonly Place[] = [
  { label: pages.roleMappings, href: to('/role-mappings'), operation: 'listRoleMappings' },
  { label: pages.branding, href: to('/branding'), operation: 'getBranding' },
];

/** Returns the groups with the places that someone who may call `operations` can read. */
export const groupsFor = (operations: readonly string[]): Group[] =>
  navigation
    .map((group) => ({
      ...group,
      places: group.places.filter(({ operation }) => !operation || operations.includes(operation)),
    }))
    .filter(({ places }) => places.length > 0);

/** Tells if the page at `pathname` belongs to a place: `/schedules/new` to Schedules. */
export const isAt = (place: Place, pathname: string): boolean => {
  if (place.href === '/') return pathname === '/';
  // Schedules and triggers lie below their agents, and have places of their own.
  const below = /^\/agents\/[^/]+\/(schedules|triggers)\//.exec(pathname)?.[1];
  const shown = below === undefined ? pathname : below === 'schedules' ? to('/schedules') : to('/triggers');
  if (shown === to('/role-mappings')) return place.href === to('/users');
  if (shown.startsWith('/alert-rules/')) return place.href === to('/alerts');
  if (shown === '/routes' || shown.startsWith('/routes/')) return place.href === to('/channels');
  if (shown === to('/branding')) return place.href === to('/settings');
  return shown === place.href || shown.startsWith(`${place.href}/`);
};
