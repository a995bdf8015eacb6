"""A bare window of WebKitGTK that WebKitWebDriver drives. WebKit's own MiniBrowser is too small."""

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gtk, WebKit2  # noqa: E402

context = WebKit2.WebContext.new_ephemeral()
context.set_automation_allowed(True)


def create_view(_session):
    view = WebKit2.WebView(web_context=context, is_controlled_by_automation=True)
    window = Gtk.Window()
    window.set_default_size(1280, 800)
    window.add(view)
    window.show_all()
    return view


def on_automation(_context, session):
    session.connect("create-web-view", create_view)


context.connect("automation-started", on_automation)
Gtk.main()
