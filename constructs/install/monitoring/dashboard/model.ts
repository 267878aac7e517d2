import type { Panel, Row } from './panel.ts';
import { rows } from './rows.ts';

/** The one that is chosen above the dashboard. */
const datasource = { type: 'prometheus', uid: '${datasource}' };
const columns = 24;
const panelHeight = 8;
const defaultWidth = 8;

/** The dashboard as Grafana imports it. https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/ */
export function dashboardModel(): object {
  return {
    uid: 'plumbline',
    title: 'Plumbline',
    tags: ['plumbline', 'postgresql'],
    // Of the model; a newer Grafana brings it up to date by itself.
    schemaVersion: 38,
    editable: true,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        choice('controller', 'Namespace of the controller', 'plumbline_build_info'),
        choice('namespace', 'Namespace of databases', 'plumbline_database_info'),
      ],
    },
    panels: laidOut(rows),
  };
}

/** A choice of namespaces, by default all that a metric has. */
function choice(name: string, label: string, metric: string): object {
  return {
    name,
    label,
    type: 'query',
    datasource,
    query: { query: `label_values(${metric}, namespace)`, refId: name },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.+',
    current: { selected: true, text: ['All'], value: ['$__all'] },
  };
}

/** Each row below the one before, and its panels from left to right as far as there is room. */
function laidOut(all: readonly Row[]): readonly object[] {
  const found: object[] = [];
  let y = 0;
  for (const { title, panels } of all) {
    found.push({
      id: found.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: columns, h: 1 },
    });
    y += 1;
    let x = 0;
    for (const panel of panels) {
      const { width = defaultWidth } = panel;
      if (x + width > columns) [x, y] = [0, y + panelHeight];
      found.push({ id: found.length + 1, ...inGrafana(panel), gridPos: { x, y, w: width, h: panelHeight } });
      x += width;
    }
    y += panelHeight;
  }
  return found;
}

function inGrafana({ title, description, type, unit = 'short', queries }: Panel): object {
  const isTable = type === 'table';
  return {
    type,
    title,
    description,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: isTable ? {} : optionsOf(type),
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat: legend,
      ...(isTable ? { format: 'table', instant: true } : { range: true }),
    })),
    ...(isTable
      ? { transformations: [{ id: 'organize', options: { excludeByName: { Time: true, Value: true } } }] }
      : {}),
  };
}

function optionsOf(type: Exclude<Panel['type'], 'table'>): object {
  if (type === 'stat') return { reduceOptions: { calcs: ['lastNotNull'] } };
  return { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } };
}
