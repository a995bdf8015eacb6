import type { ComponentType } from 'react';
import { pages } from '../text/en/pages.ts';
import { shell } from '../text/en/shell.ts';
import { OverviewIcon, ReviewIcon, SchedulesIcon, WorkItemsIcon } from '../ui/icons.tsx';
import { to } from './addresses.ts';

/** A place in the navigation. */
export interface Place {
  label: string;
  href: string;
  /** Shown if the signed-in principal may call this operation. Without it, always. */
  operation?: string;
  /** The letter after `g`. */
  letter?: string;
  /** Its drawing in the bar of phones; four places have one. */
  Icon?: ComponentType;
  /** The page for a new one, for the palette. */
  create?: { label: string; href: string; operation: string };
}

export interface Group {
  /** Absent: the places stand at the top. */
  title?: string;
  places: readonly Place[];
}

/** The navigation. A group that has no place for the signed-in principal is not shown. */
export const navigation: readonly Group[] = [
  {
    places: [
      { label: pages.overview, href: to.overview(), letter: 'o', Icon: OverviewIcon },
      { label: pages.review, href: to.review(), letter: 'r', operation: 'listWorkItems', Icon: ReviewIcon },
    ],
  },
  {
    title: shell.run,
    places: [
      {
        label: pages.schedules,
        href: to.schedules(),
        letter: 's',
        operation: 'listSchedules',
        Icon: SchedulesIcon,
        create: { label: pages.newSchedule, href: to.newSchedule(), operation: 'createSchedule' },
      },
      {
        label: pages.workItems,
        href: to.workItems(),
        letter: 'w',
        operation: 'listWorkItems',
        Icon: WorkItemsIcon,
        create: { label: pages.newWorkItem, href: to.newWorkItem(), operation: 'createWorkItem' },
      },
      {
        label: pages.agents,
        href: to.agents(),
        letter: 'a',
        operation: 'listAgents',
        create: { label: pages.newAgent, href: to.newAgent(), operation: 'createAgent' },
      },
      {
        label: pages.extractions,
        href: to.extractions(),
        letter: 'x',
        operation: 'listExtractions',
        create: { label: pages.newExtraction, href: to.newExtraction(), operation: 'createExtraction' },
      },
    ],
  },
  {
    title: shell.connect,
    places: [
      {
        label: pages.integrations,
        href: to.integrations(),
        letter: 'i',
        operation: 'listObservabilityIntegrations',
        create: {
          label: pages.newIntegration,
          href: to.newIntegration(),
          operation: 'createObservabilityIntegration',
        },
      },
      {
        label: pages.llmConfigurations,
        href: to.llmConfigurations(),
        letter: 'l',
        operation: 'listLlmConfigurations',
        create: {
          label: pages.newLlmConfiguration,
          href: to.newLlmConfiguration(),
          operation: 'createLlmConfiguration',
        },
      },
      {
        label: pages.toolServers,
        href: to.toolServers(),
        letter: 't',
        operation: 'listToolServers',
        create: { label: pages.newToolServer, href: to.newToolServer(), operation: 'createToolServer' },
      },
      {
        label: pages.dataConnections,
        href: to.dataConnections(),
        letter: 'd',
        operation: 'listDataConnections',
        create: {
          label: pages.newDataConnection,
          href: to.newDataConnection(),
          operation: 'createDataConnection',
        },
      },
      {
        label: pages.semanticDataModels,
        href: to.semanticDataModels(),
        letter: 'm',
        operation: 'listSemanticDataModels',
        create: {
          label: pages.newSemanticDataModel,
          href: to.newSemanticDataModel(),
          operation: 'createSemanticDataModel',
        },
      },
      {
        label: pages.documentIntelligence,
        href: to.documentIntelligence(),
        letter: 'y',
        operation: 'getDocumentIntelligence',
      },
    ],
  },
  {
    title: shell.manage,
    places: [
      {
        label: pages.apiKeys,
        href: to.apiKeys(),
        letter: 'k',
        operation: 'listApiKeys',
        create: { label: shell.newApiKey, href: to.apiKeys({ new: '1' }), operation: 'createApiKey' },
      },
      { label: pages.users, href: to.users(), letter: 'u', operation: 'listUsers' },
      { label: pages.settings, href: to.settings(), letter: 'e', operation: 'getAdvancedSettings' },
      { label: pages.audit, href: to.audit(), letter: 'h', operation: 'listAudits' },
      { label: pages.status, href: to.status(), letter: 'p', operation: 'getStatus' },
    ],
  },
];

/** Pages that are not in the navigation and that the palette finds. */
export const otherPlaces: readonly Place[] = [
  { label: pages.roleMappings, href: to.roleMappings(), operation: 'listRoleMappings' },
  { label: pages.branding, href: to.branding(), operation: 'getBranding' },
];

/** Returns the groups, and in each the places that someone who may call `operations` can read. */
export const groupsFor = (operations: readonly string[]): Group[] =>
  navigation
    .map((group) => ({
      ...group,
      places: group.places.filter(({ operation }) => !operation || operations.includes(operation)),
    }))
    .filter(({ places }) => places.length > 0);

/** Whether the page at `pathname` belongs to a place: `/schedules/new` to Schedules. */
export const isAt = (place: Place, pathname: string): boolean => {
  if (place.href === '/') return pathname === '/';
  // A schedule lies below its agent, and belongs to Schedules.
  const shown = /^\/agents\/[^/]+\/schedules\//.test(pathname) ? to.schedules() : pathname;
  if (shown === to.roleMappings()) return place.href === to.users();
  if (shown === to.branding()) return place.href === to.settings();
  return shown === place.href || shown.startsWith(`${place.href}/`);
};
