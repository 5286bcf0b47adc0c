// The walk-through of the library with the client of OpenAPI Generator.

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.UUID;
import java.util.stream.Collectors;
import library.ApiClient;
import library.ApiException;
import library.ApiResponse;
import library.api.BooksApi;
import library.api.ReadersApi;
import library.api.ServiceApi;
import library.model.BookCopy;
import library.model.BorrowBookCommand;
import library.model.CopyStatus;
import library.model.HealthStatus;
import library.model.InvalidValuesProblem;
import library.model.PageOfBookCopy;
import library.model.Problem;
import library.model.PurchaseBookCommand;
import library.model.RegisterReaderCommand;
import library.model.ReturnBookCommand;
import library.model.UnprocessableProblem;

class Walkthrough {
    static final String PREFIX = "tag:es-framework,2026:problem:";
    static final String AUTHOR = "Stanisław Lem";

    final ApiClient client = new ApiClient();
    final BooksApi books;
    final ReadersApi readers;
    /** The event that later queries must contain. */
    String position;

    Walkthrough(String url) {
        client.updateBaseUri(url);
        client.setConnectTimeout(Duration.ofSeconds(20));
        client.setReadTimeout(Duration.ofSeconds(20));
        books = new BooksApi(client);
        readers = new ReadersApi(client);
    }

    public static void main(String[] arguments) throws Exception {
        endAfter(Duration.ofMinutes(5));
        new Walkthrough(arguments[0]).run();
    }

    void run() throws Exception {
        UUID solaris = purchase("978-0-15-602760-1", "Solaris");
        UUID second = purchase("978-0-15-602760-1", "Solaris");
        UUID fiasco = purchase("978-0-15-630630-0", "Fiasco");
        UUID ada = UUID.randomUUID();
        readers.registerReaderCommand(new RegisterReaderCommand().id(ada).name("Ada"), null, null);

        borrowOnceAndMeetTheConflict(solaris, ada);
        refuseInvalidValues();
        readAllPages(Set.of(solaris, second, fiasco));
        browseTheCatalog(second);
        returnWhileALiveQueryIsOpen(solaris);

        expect(HealthStatus.UP, new ServiceApi(client).health().getStatus());
        expect("es-framework", new ServiceApi(client).info().getFramework().getName());
    }

    UUID purchase(String isbn, String title) throws ApiException {
        UUID id = UUID.randomUUID();
        PurchaseBookCommand purchase =
            new PurchaseBookCommand().id(id).isbn(isbn).title(title).author(AUTHOR).numPages(204L);
        String key = UUID.randomUUID().toString();
        remember(books.purchaseBookCommandWithHttpInfo(purchase, key, null, null));
        // The same command again is carried out once.
        ApiResponse<Void> again = books.purchaseBookCommandWithHttpInfo(purchase, key, null, null);
        expect(position, again.getHeaders().get("event-position").get(0));
        return id;
    }

    void borrowOnceAndMeetTheConflict(UUID copy, UUID reader) throws Exception {
        BorrowBookCommand borrow = new BorrowBookCommand().id(copy).reader(reader);
        var loan = remember(books.borrowBookCommandWithHttpInfo(borrow, null, null));
        check(loan.getDueAt().isAfter(OffsetDateTime.now()), "the loan is due in the future");
        ApiException conflict = refused(409, () -> books.borrowBookCommand(borrow, null, null));
        Problem problem = client.getObjectMapper().readValue(conflict.getResponseBody(), Problem.class);
        expect(PREFIX + "copy-lent", problem.getType().toString());
        expect(409, problem.getStatus());

        BookCopy lent = books.findCopy(copy, position, null, null, null);
        expect(CopyStatus.LENT, lent.getStatus());
        expect(reader, lent.getReader());
        var held = readers.loansOfReader(reader, position, null, null, null);
        expect(List.of(copy), held.stream().map(one -> one.getBook()).collect(Collectors.toList()));
        UUID unknown = UUID.randomUUID();
        refused(404, () -> books.findCopy(unknown, null, null, null, null));
    }

    void refuseInvalidValues() throws Exception {
        PurchaseBookCommand nameless = new PurchaseBookCommand()
            .id(UUID.randomUUID()).isbn("978-0-15-602760-1").title("").author(AUTHOR).numPages(1L);
        String key = UUID.randomUUID().toString();
        ApiException invalid = refused(422, () -> books.purchaseBookCommand(nameless, key, null, null));
        InvalidValuesProblem problem = (InvalidValuesProblem) unprocessable(invalid);
        expect("/title", problem.getErrors().get(0).getPointer());

        PurchaseBookCommand named = nameless.title("Eden");
        remember(books.purchaseBookCommandWithHttpInfo(named, key, null, null));
        PurchaseBookCommand other = named.title("Return from the Stars");
        ApiException reused = refused(422, () -> books.purchaseBookCommand(other, key, null, null));
        // A problem without invalid values.
        Problem plain = (Problem) unprocessable(reused);
        expect(PREFIX + "idempotency-key-reused", plain.getType().toString());
    }

    Object unprocessable(ApiException error) throws Exception {
        String body = error.getResponseBody();
        return client.getObjectMapper().readValue(body, UnprocessableProblem.class).getActualInstance();
    }

    void readAllPages(Set<UUID> purchased) throws ApiException {
        Set<UUID> found = new HashSet<>();
        List<Integer> sizes = new ArrayList<>();
        String cursor = null;
        do {
            PageOfBookCopy page =
                books.browseStock(null, null, AUTHOR, null, 3, cursor, true, position, null, null, null);
            expect(4L, page.getTotal());
            sizes.add(page.getItems().size());
            page.getItems().forEach(copy -> found.add(copy.getId()));
            cursor = page.getNextCursor();
        } while (cursor != null);
        expect(List.of(3, 1), sizes);
        check(found.containsAll(purchased), "the pages contain each copy");
    }

    void browseTheCatalog(UUID available) throws ApiException {
        var page = books.browseCatalog(null, "Solaris", AUTHOR, null, null, null, position, null, null, null);
        expect(1, page.getItems().size());
        var solaris = page.getItems().get(0);
        expect(2L, solaris.getTotal());
        expect(List.of(available), solaris.getAvailable());
    }

    /** A generated call returns one result, so the stream is read with the client of Java. */
    void returnWhileALiveQueryIsOpen(UUID copy) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(client.getBaseUri() + "/books/" + copy))
            .header("Accept", "text/event-stream")
            .header("Event-Position", position)
            .timeout(Duration.ofSeconds(20))
            .build();
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpResponse<InputStream> response = http.send(request, HttpResponse.BodyHandlers.ofInputStream());
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(response.body()))) {
            expect(CopyStatus.LENT, nextResult(lines).getStatus());
            var receipt = books.returnBookCommand(new ReturnBookCommand().id(copy), null, null);
            expect(0L, receipt.getLateFeeCents());
            expect(CopyStatus.AVAILABLE, nextResult(lines).getStatus());
        }
    }

    BookCopy nextResult(BufferedReader lines) throws Exception {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("data:")) {
                return client.getObjectMapper().readValue(line.substring(5), BookCopy.class);
            }
        }
        throw new IllegalStateException("the stream ended before the next result");
    }

    <T> T remember(ApiResponse<T> response) {
        position = response.getHeaders().get("event-position").get(0);
        return response.getData();
    }

    interface Call {
        void run() throws ApiException;
    }

    static ApiException refused(int status, Call call) {
        try {
            call.run();
        } catch (ApiException error) {
            expect(status, error.getCode());
            return error;
        }
        throw new IllegalStateException("the service accepted the request");
    }

    static void expect(Object expected, Object actual) {
        check(Objects.equals(expected, actual), expected + " is expected, and it is " + actual);
    }

    static void check(boolean holds, String sentence) {
        if (!holds) {
            throw new IllegalStateException(sentence);
        }
    }

    static void endAfter(Duration limit) {
        TimerTask end = new TimerTask() {
            @Override
            public void run() {
                System.err.println("the walk-through took longer than " + limit);
                Runtime.getRuntime().halt(1);
            }
        };
        new Timer(true).schedule(end, limit.toMillis());
    }
}
