"""An editor that talks to `wfc lsp`: documents with places named by the words around them, and a session for each test."""
import asyncio
import unittest

import harness
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient


class Editor:
    """A document in an editor: its text, and places in it named by the words around them."""
    def __init__(self, client, uri, text):
        self.client, self.uri, self.text, self.version = client, uri, text, 1
        self.document = lsp.TextDocumentIdentifier(uri=uri)

    def open(self):
        item = lsp.TextDocumentItem(uri=self.uri, language_id="wf", version=self.version, text=self.text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=item))

    def change(self, text):
        self.text = text
        self.version += 1
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(
            text_document=lsp.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version),
            content_changes=[lsp.TextDocumentContentChangeWholeDocument(text=text)]))

    def write(self, start, end, text):
        """What a keystroke sends: `text` in place of what lies between two offsets."""
        range_ = lsp.Range(self.position(start), self.position(end))
        self.text = self.text[:start] + text + self.text[end:]
        self.version += 1
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(
            text_document=lsp.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version),
            content_changes=[lsp.TextDocumentContentChangePartial(range=range_, text=text)]))

    def at(self, words):
        """The position of `|` in `words`, which stand once in the text."""
        before, after = words.split("|")
        assert self.text.count(before + after) == 1, (words, self.text.count(before + after))
        return self.position(self.text.index(before + after) + len(before))

    def position(self, offset):
        start = self.text.rfind("\n", 0, offset) + 1
        return lsp.Position(self.text.count("\n", 0, offset), len(self.text[start:offset].encode("utf-16-le")) // 2)

    def offset(self, position):
        lines = self.text.split("\n")
        units = lines[position.line].encode("utf-16-le")[:position.character * 2]
        return sum(len(line) + 1 for line in lines[:position.line]) + len(units.decode("utf-16-le"))

    def slice(self, range_):
        return self.text[self.offset(range_.start):self.offset(range_.end)]

    def edited(self, edits):
        text = self.text
        for edit in sorted(edits, key=lambda e: self.offset(e.range.start), reverse=True):
            text = text[:self.offset(edit.range.start)] + edit.new_text + text[self.offset(edit.range.end):]
        return text


CAPABILITIES = lsp.ClientCapabilities(text_document=lsp.TextDocumentClientCapabilities(signature_help=lsp.SignatureHelpClientCapabilities(
    signature_information=lsp.ClientSignatureInformationOptions(
        parameter_information=lsp.ClientSignatureParameterInformationOptions(label_offset_support=True)))),
    workspace=lsp.WorkspaceClientCapabilities(did_change_watched_files=lsp.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)))


class Client(LanguageClient):
    def __init__(self):
        super().__init__("test", "1")
        self.published, self.arrived = {}, asyncio.Event()

        self.watched = []

        @self.feature(lsp.CLIENT_REGISTER_CAPABILITY)
        def _(params):
            for registration in params.registrations:
                options = registration.register_options
                watchers = options["watchers"] if isinstance(options, dict) else options.watchers
                self.watched += [w["globPattern"] if isinstance(w, dict) else w.glob_pattern for w in watchers]

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params):
            self.published[params.uri] = params
            self.arrived.set()

    async def diagnostics(self, editor):
        """Of the version that the editor shows."""
        async with asyncio.timeout(60):
            while editor.uri not in self.published or self.published[editor.uri].version != editor.version:
                self.arrived.clear()
                await self.arrived.wait()
        return list(self.published[editor.uri].diagnostics)


class Session(unittest.IsolatedAsyncioTestCase):
    capabilities = CAPABILITIES

    async def asyncSetUp(self):
        self.client = Client()
        await self.client.start_io(str(harness.WFC), "lsp", "--stdio")
        self.folder = harness.scratch() / f"lsp-{self.id().rsplit('.', 1)[1]} \u00e9"
        self.folder.mkdir()
        self.answer = await self.client.initialize_async(lsp.InitializeParams(
            capabilities=self.capabilities, workspace_folders=[lsp.WorkspaceFolder(uri=self.folder.as_uri(), name="test")]))
        self.client.initialized(lsp.InitializedParams())

    async def asyncTearDown(self):
        await self.client.shutdown_async(None)
        self.client.exit(None)
        server = self.client._server
        self.assertEqual(await asyncio.wait_for(server.wait(), 30), 0)
        await self.client.stop()

    def edit(self, text, name="main.wf"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        editor = Editor(self.client, path.as_uri(), text)
        editor.open()
        return editor

    async def hover(self, editor, words):
        found = await self.client.text_document_hover_async(lsp.HoverParams(text_document=editor.document, position=editor.at(words)))
        return found and found.contents.value

    async def labels(self, editor, words):
        return await self.labels_at(editor, editor.at(words))

    async def labels_at(self, editor, position):
        found = await self.client.text_document_completion_async(lsp.CompletionParams(text_document=editor.document, position=position))
        return [item.label for item in found or []]

    async def references(self, editor, words, declaration=True):
        context = lsp.ReferenceContext(include_declaration=declaration)
        return await self.client.text_document_references_async(
            lsp.ReferenceParams(text_document=editor.document, position=editor.at(words), context=context)) or []

    async def rename(self, editor, words, name):
        return await self.client.text_document_rename_async(
            lsp.RenameParams(text_document=editor.document, position=editor.at(words), new_name=name))
